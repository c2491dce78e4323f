import Type from 'typebox';
import { Lifecycle } from '../../domain/inventory/cards/cards.model.ts';
import { closed, Nullable, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';
import { Position } from './common.ts';

export const RoadmapReportSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          type: Type.String(),
          subtype: Nullable(Type.String()),
          lifecycle: Nullable(Lifecycle),
          attributes: OpenObject,
        },
        closed,
      ),
    ),
    position: Position,
  },
  { $id: 'RoadmapReport', ...closed },
);

const FieldValue = Type.Unknown({ description: 'The value of the field; null where it is empty' });

export const PortfolioReportSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          x: FieldValue,
          y: FieldValue,
          size: Nullable(Type.Number()),
          color: FieldValue,
          lifecycle: Nullable(Lifecycle),
        },
        closed,
      ),
    ),
    x_axis: Type.String(),
    y_axis: Type.String(),
    position: Position,
  },
  { $id: 'PortfolioReport', ...closed },
);
