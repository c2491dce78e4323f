import Type from 'typebox';
import { closed, DateOnly, Nullable, Uuid } from '../../domain/kernel/shapes.ts';
import { healths } from '../../domain/modelling/ppm/ppm.types.ts';
import { Position } from './common.ts';

const Count = Type.Integer({ minimum: 0 });
const Amount = Nullable(Type.Number({ description: 'Null without costs.view' }));
const Counts = Type.Record(Type.String(), Count);
const Health = Type.Object(Object.fromEntries([...healths, 'noReport'].map((key) => [key, Count])), {
  ...closed,
  description: 'Initiatives by what their newest status report says',
});
const Text = Nullable(Type.String());

export const PpmGroupOptionsSchema = Type.Object(
  {
    items: Type.Array(Type.Object({ type_key: Type.String(), type_label: Type.String() }, closed)),
    position: Position,
  },
  { $id: 'PpmGroupOptions', ...closed },
);

export const PpmDashboardSchema = Type.Object(
  {
    total_initiatives: Count,
    by_subtype: Counts,
    by_status: Counts,
    total_budget: Amount,
    total_actual: Amount,
    health_schedule: Health,
    health_cost: Health,
    health_scope: Health,
    by_fiscal_year: Nullable(
      Type.Array(
        Type.Object(
          {
            fiscal_year: Type.Integer(),
            budget: Type.Number(),
            planned: Type.Number({ description: 'Of cost lines with a date in it' }),
            actual: Type.Number(),
          },
          closed,
        ),
        { description: 'Null without costs.view' },
      ),
    ),
    position: Position,
  },
  { $id: 'PpmDashboard', ...closed },
);

export const PpmGanttSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          subtype: Text,
          status: Text,
          parent_id: Nullable(Uuid),
          start_date: Nullable(DateOnly),
          end_date: Nullable(DateOnly),
          cost_budget: Amount,
          cost_actual: Amount,
          capex_planned: Amount,
          capex_actual: Amount,
          opex_planned: Amount,
          opex_actual: Amount,
          group_id: Nullable(Uuid),
          group_name: Text,
          latest_report: Nullable(Type.Ref('PpmStatusReport#')),
          latest_report_id: Nullable(Uuid),
          stakeholders: Type.Array(
            Type.Object({ user_id: Uuid, display_name: Type.String(), role_key: Type.String() }, closed),
            { description: 'Empty without stakeholders.view' },
          ),
        },
        closed,
      ),
    ),
    position: Position,
  },
  { $id: 'PpmGantt', ...closed },
);
