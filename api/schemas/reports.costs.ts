import Type from 'typebox';
import { Lifecycle } from '../../domain/inventory/cards/cards.model.ts';
import { closed, Nullable, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';
import { Position } from './common.ts';

export const CostReportSchema = Type.Object(
  {
    items: Type.Array(Type.Object({ id: Uuid, name: Type.String(), cost: Type.Number() }, closed)),
    total: Type.Number(),
    position: Position,
  },
  { $id: 'CostReport', ...closed },
);

const GroupId = Nullable(
  Type.String({
    format: 'uuid',
    description: 'The card of the group; null for options of a field and for those without a group',
  }),
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
          group_id: Type.Optional(GroupId),
        },
        closed,
      ),
    ),
    total: Type.Number(),
    groups: Nullable(
      Type.Array(
        Type.Object(
          {
            id: GroupId,
            name: Type.String(),
            parent_name: Type.Optional(
              Nullable(Type.String({ description: 'The name of the card above the card of the group' })),
            ),
            cost: Type.Number(),
          },
          closed,
        ),
      ),
    ),
    position: Position,
  },
  { $id: 'CostTreemapReport', ...closed },
);
