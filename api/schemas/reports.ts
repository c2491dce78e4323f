import Type from 'typebox';
import { closed, DateOnly, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { Position } from './common.ts';

const Counts = Type.Record(Type.String(), Type.Integer());

const Trend = Type.Object(
  {
    current: Type.Number(),
    previous: Nullable(Type.Number()),
    delta_abs: Nullable(Type.Number()),
    delta_pct: Nullable(Type.Number()),
  },
  closed,
);

const figures = {
  total_cards: Type.Integer(),
  by_type: Counts,
  avg_data_quality: Type.Number(),
  approval_statuses: Counts,
  data_quality_distribution: Type.Object(
    { '0-25': Type.Integer(), '25-50': Type.Integer(), '50-75': Type.Integer(), '75-100': Type.Integer() },
    closed,
  ),
  lifecycle_distribution: Type.Object(
    {
      plan: Type.Integer(),
      phaseIn: Type.Integer(),
      active: Type.Integer(),
      phaseOut: Type.Integer(),
      endOfLife: Type.Integer(),
      none: Type.Integer(),
    },
    closed,
  ),
};

export const DashboardSchema = Type.Object(
  {
    ...figures,
    recent_events: Type.Array(
      Type.Object(
        {
          id: Uuid,
          card_id: Nullable(Uuid),
          card_name: Nullable(Type.String()),
          event_type: Type.String(),
          data: OpenObject,
          user_display_name: Nullable(Type.String()),
          created_at: Timestamp,
        },
        closed,
      ),
    ),
    trends: Type.Object(
      {
        comparison_days: Type.Integer(),
        snapshot_available: Type.Boolean(),
        snapshot_date: Nullable(DateOnly),
        total_cards: Trend,
        avg_data_quality: Trend,
        approved_count: Trend,
        broken_count: Trend,
      },
      closed,
    ),
    position: Position,
  },
  { $id: 'Dashboard', ...closed },
);

export const KpiSnapshotSchema = Type.Partial(
  Type.Object({
    slot: Timestamp,
    position: Nullable(Position),
    metrics: Nullable(Type.Object(figures, closed)),
    taken_at: Nullable(Timestamp),
  }),
  { $id: 'KpiSnapshot', ...closed },
);
