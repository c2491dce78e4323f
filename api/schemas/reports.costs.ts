import Type from 'typebox';
import { closed, Nullable, OpenObject, Uuid } from '../../domain/shapes.ts';
import { Lifecycle } from './cards.ts';
import { Position } from './common.ts';

export const CostReportSchema = Type.Object(
  {
    items: Type.Array(Type.Object({ id: Uuid, name: Type.String(), cost: Type.Number() }, closed)),
    total: Type.Number(),
    position: Position,
  },
  { $id: 'CostReport', ...closed },
);

export const CostTreemapReportSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          cost: Type.Number(),
          lifecycle: Nullable(Lifecycle),
          attributes: OpenObject,
          group: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
    total: Type.Number(),
    groups: Nullable(Type.Array(Type.Object({ name: Type.String(), cost: Type.Number() }, closed))),
    position: Position,
  },
  { $id: 'CostTreemapReport', ...closed },
);
