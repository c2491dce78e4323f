import Type from 'typebox';
import { Lifecycle } from '../../domain/inventory/cards/cards.model.ts';
import { closed, Nullable, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';
import { Position } from './common.ts';

const Line = Type.Object({ id: Uuid, name: Type.String(), parent_id: Nullable(Uuid) }, closed);

export const MatrixReportSchema = Type.Object(
  {
    rows: Type.Array(Line),
    columns: Type.Array(Line),
    intersections: Type.Array(Type.Object({ row_id: Uuid, col_id: Uuid }, closed)),
    position: Position,
  },
  { $id: 'MatrixReport', ...closed },
);

export const DependenciesReportSchema = Type.Object(
  {
    nodes: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          type: Type.String(),
          lifecycle: Nullable(Lifecycle),
          attributes: OpenObject,
          parent_id: Nullable(Uuid),
          path: Type.Array(Type.String(), { description: 'Names of the ancestors, root first' }),
        },
        closed,
      ),
    ),
    edges: Type.Array(
      Type.Object(
        {
          source: Uuid,
          target: Uuid,
          type: Type.String(),
          label: Type.String(),
          reverse_label: Nullable(Type.String()),
          description: Nullable(Type.String()),
          attributes: OpenObject,
        },
        closed,
      ),
    ),
    position: Position,
  },
  { $id: 'DependenciesReport', ...closed },
);
