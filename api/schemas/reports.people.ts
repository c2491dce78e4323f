import Type from 'typebox';
import { closed, DateOnly, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { figures as workspaceFigures } from '../../reports/collaboration/my-workspace/my-workspace.report.ts';
import { Position } from './common.ts';

const Count = Type.Integer({ minimum: 0 });
const Text = Type.String();
const counts = <K extends string>(...names: K[]) =>
  Object.fromEntries(names.map((name) => [name, Count])) as Record<K, typeof Count>;

export const MyWorkspaceSchema = Type.Object(
  {
    ...counts(...workspaceFigures),
    position: Position,
  },
  { $id: 'MyWorkspace', ...closed },
);

export const AdminDashboardSchema = Type.Object(
  {
    kpis: Type.Object(
      counts(
        'total_users',
        'active_users_30d',
        'cards_without_stakeholders',
        'overdue_todos_total',
        'stuck_approvals',
        'broken_total',
        'pending_sso_invitations',
        'unassigned_todo_count',
      ),
      closed,
    ),
    top_contributors: Type.Array(Type.Object({ user_id: Uuid, display_name: Text, count: Count }, closed)),
    stakeholder_coverage: Type.Array(
      Type.Object({ type: Text, ...counts('total', 'with_stakeholders', 'missing') }, closed),
    ),
    idle_users: Type.Array(
      Type.Object({ id: Uuid, display_name: Text, email: Text, last_login: Nullable(Timestamp) }, closed),
    ),
    approval_pipeline: Type.Array(
      Type.Object({ type: Text, ...counts('draft', 'approved', 'rejected', 'broken') }, closed),
    ),
    recent_activity: Type.Array(
      Type.Object(
        {
          id: Uuid,
          card_id: Nullable(Uuid),
          card_name: Nullable(Text),
          event_type: Text,
          data: OpenObject,
          user_display_name: Nullable(Text),
          created_at: Timestamp,
        },
        closed,
      ),
    ),
    oldest_overdue_todos: Type.Array(
      Type.Object(
        {
          id: Uuid,
          description: Text,
          due_date: DateOnly,
          card_id: Nullable(Uuid),
          card_name: Nullable(Text),
          assignee_name: Nullable(Text),
        },
        closed,
      ),
    ),
    position: Position,
  },
  { $id: 'AdminDashboard', ...closed },
);

const Holder = Type.Object(
  {
    user_id: Uuid,
    display_name: Text,
    email: Text,
    cards: Type.Array(Type.Object({ id: Uuid, name: Text }, closed)),
    card_count: Count,
  },
  closed,
);
const DirectoryRole = Type.Object(
  {
    role_key: Text,
    role_label: Text,
    role_color: Text,
    role_translations: OpenObject,
    users: Type.Array(Holder),
  },
  closed,
);

export const StakeholderDirectorySchema = Type.Object(
  {
    card_types: Type.Array(
      Type.Object(
        {
          type_key: Text,
          type_label: Text,
          type_icon: Text,
          type_color: Text,
          roles: Type.Array(DirectoryRole),
          holders_count: Count,
        },
        closed,
      ),
    ),
    position: Position,
  },
  { $id: 'StakeholderDirectory', ...closed },
);
