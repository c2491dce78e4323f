import Type from 'typebox';
import { closed, Nullable, Position, Timestamp } from '../../domain/kernel/shapes.ts';
import { figureSchemas } from '../../reports/inventory/kpis/kpis.figures.ts';

export const KpiSnapshotSchema = Type.Partial(
  Type.Object({
    slot: Timestamp,
    position: Nullable(Position),
    metrics: Nullable(Type.Object(figureSchemas, closed)),
    taken_at: Nullable(Timestamp),
  }),
  { $id: 'KpiSnapshot', ...closed },
);
