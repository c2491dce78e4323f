import Type from 'typebox';
import { Clearable, object, Uuid } from '../../../domain/kernel/shapes.ts';

/** A card in answers that name it. */
export const CardRef = object({ id: Uuid, type: Type.String(), name: Type.String() });

const optionalText = (maxLength: number) => Clearable(Type.String({ maxLength }));

/** A card as rows of bulk requests name it. */
export const Reference = object(
  {
    id: Clearable(Uuid),
    type: optionalText(100),
    external_id: optionalText(500),
    parent_path: Clearable(
      Type.Array(Type.String({ maxLength: 500 }), {
        maxItems: 100,
        description:
          'Names of all ancestors, the root first; without it: a card of this name at any place in the hierarchy',
      }),
    ),
    name: optionalText(500),
  },
  { description: 'A card by `id`, by `type` and `external_id`, or by `type`, `name` and `parent_path`' },
);
