import Type from 'typebox';
import { closed, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { Position } from './common.ts';

export const DataQualityReportSchema = Type.Object(
  {
    overall_data_quality: Type.Number({ minimum: 0, maximum: 100 }),
    total_items: Type.Integer(),
    with_lifecycle: Type.Integer(),
    orphaned: Type.Integer(),
    stale: Type.Integer(),
    by_type: Type.Array(
      Type.Object(
        {
          type: Type.String(),
          total: Type.Integer(),
          complete: Type.Integer(),
          partial: Type.Integer(),
          minimal: Type.Integer(),
          avg_data_quality: Type.Number(),
        },
        closed,
      ),
    ),
    worst_items: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          type: Type.String(),
          data_quality: Type.Number(),
          updated_at: Timestamp,
        },
        closed,
      ),
    ),
    position: Position,
  },
  { $id: 'DataQualityReport', ...closed },
);
