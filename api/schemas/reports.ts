import { itemComponent, Nullable, object, Position, Timestamp } from '../../domain/kernel/shapes.ts';
import { figureSchemas } from '../../reports/inventory/kpis/kpis.figures.ts';

export const KpiSnapshotSchema = itemComponent('KpiSnapshot', {
  slot: Timestamp,
  position: Nullable(Position),
  metrics: Nullable(object(figureSchemas)),
  taken_at: Nullable(Timestamp),
});
