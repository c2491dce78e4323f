import Type from 'typebox';
import {
  Choice,
  component,
  itemComponent,
  Key,
  Nullable,
  object,
  Timestamp,
  Uuid,
} from '../../domain/kernel/shapes.ts';
import { Diagram, DiagramGroup, visibilities } from '../../domain/modelling/diagrams/diagrams.load.ts';
import { MAX_DRAWING } from '../../domain/modelling/diagrams/drawing.work.ts';
import { MAX_THUMBNAIL } from '../../domain/modelling/diagrams/drawings.store.ts';
import { answersOf, bodiesOf } from './common.ts';

const { name: Name, description: Description } = Diagram.columns;
const Visibility = Choice(
  visibilities,
  '`private`: only its owner sees it; `shared`: those in `shared_with` as well; for others it does not exist',
);
const SharedWith = Type.Array(
  object({ user_id: Uuid, can_edit: Type.Optional(Type.Boolean({ default: false })) }),
  { maxItems: 100, description: 'The users who see it in addition to its owner; replaces the existing ones' },
);
const Data = Type.Object(
  {
    xml: Type.Optional(
      Nullable(
        Type.String({
          maxLength: MAX_DRAWING,
          description:
            'draw.io XML: `mxGraphModel`, or `mxfile` with plain or compressed pages. Cells refer to cards by an attribute `cardId` of `object`, `UserObject` or `mxCell`, or by a `link` to `/cards/{id}`',
        }),
      ),
    ),
    thumbnail: Type.Optional(
      Nullable(
        Type.String({
          maxLength: MAX_THUMBNAIL,
          description: 'A thumbnail as a `data:` URL: PNG, JPEG, WebP or SVG',
        }),
      ),
    ),
  },
  {
    additionalProperties: true,
    maxProperties: 100,
    description: 'The drawing, and display settings of the client',
  },
);
const CardIds = Nullable(
  Type.Array(Uuid, { maxItems: 1000, description: 'All cards that are linked to it' }),
);

const bodies = bodiesOf(
  { name: Name },
  {
    description: Description,
    data: Nullable(Data),
    card_ids: CardIds,
    visibility: Visibility,
    shared_with: Nullable(SharedWith),
  },
);
export const DiagramCreateBody = bodies.create;
export const DiagramPatchBody = bodies.patch;

const Ids = (description: string) => Type.Array(Uuid, { description });
const { id, name, description, created_by, created_at, updated_at } = Diagram.columns;
const common = {
  id,
  name,
  description,
  card_ids: Ids('Linked cards that you see'),
  group_ids: Ids('Groups that it is in'),
  visibility: Choice(visibilities),
  shared_with: Type.Array(object({ user_id: Uuid, display_name: Type.String(), can_edit: Type.Boolean() }), {
    description: 'The users with whom it is shared; users other than the owner only see themselves',
  }),
  can_edit: Type.Boolean({ description: 'Whether you may change it' }),
  created_by,
  created_by_name: Nullable(Type.String()),
  is_favorite: Type.Boolean(),
  created_at,
  updated_at,
};
export const DiagramSchema = component('Diagram', {
  ...common,
  card_refs: Ids('Cards in the drawing that you see'),
  data: Type.Object(
    { xml: Type.String(), thumbnail: Type.Optional(Type.String()) },
    { additionalProperties: true },
  ),
});
/** A diagram in a list, with the requested members. */
export const DiagramItemSchema = itemComponent('DiagramItem', {
  ...common,
  thumbnail: Nullable(Type.String()),
  card_count: Type.Integer({ minimum: 0, description: 'Cards that it contains or is linked to' }),
});

export const DiagramFavoriteSchema = itemComponent('DiagramFavorite', {
  diagram_id: Uuid,
  name: Type.String(),
  created_at: Timestamp,
});

const groupBodies = bodiesOf(
  { name: Name },
  { color: DiagramGroup.columns.color, sort_order: Nullable(DiagramGroup.columns.sort_order) },
);
export const GroupCreateBody = groupBodies.create;
export const GroupPatchBody = groupBodies.patch;
const groupAnswers = answersOf('DiagramGroup', {
  ...DiagramGroup.columns,
  diagram_count: Type.Integer({ minimum: 0, description: 'Diagrams in it that you see' }),
});
export const DiagramGroupSchema = groupAnswers.whole;
export const DiagramGroupItemSchema = groupAnswers.item;

const View = Type.Union([Type.Literal('dependencies'), Type.Literal('landscape')]);

export const GenerateBody = object({
  view: View,
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'For dependencies: the central card' })),
  depth: Type.Integer({ minimum: 1, maximum: 3, default: 1, description: 'Maximum distance in relations' }),
  direction: Type.Union([Type.Literal('both'), Type.Literal('outgoing'), Type.Literal('incoming')], {
    default: 'both',
    description: 'Whether relations are followed to their targets, to their sources, or both',
  }),
  relation_types: Type.Array(Key, { default: [], maxItems: 200, description: 'Only these; empty: all' }),
  type: Type.Optional(Type.String({ ...Key, description: 'For a landscape: the type of its cards' })),
  group_by: Type.Optional(
    Type.String({ ...Key, description: 'For a landscape: the type of the cards that they are grouped by' }),
  ),
  filter: Type.Optional(
    Type.String({ maxLength: 4000, description: 'Only these cards, in the filter language' }),
  ),
  max_cards: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  save: Type.Optional(
    object(
      {
        name: Type.Optional(Name),
        description: Type.Optional(Description),
        visibility: Type.Optional(Visibility),
        shared_with: Type.Optional(Nullable(SharedWith)),
      },
      { description: 'Saves it as a diagram; by default its name is the title' },
    ),
  ),
});

export const GeneratedDrawingSchema = component('GeneratedDrawing', {
  view: View,
  title: Type.String(),
  xml: Type.String({ description: 'draw.io XML' }),
  card_ids: Ids('Cards in the diagram'),
  relation_count: Type.Integer({ minimum: 0 }),
  truncated: Type.Boolean({ description: 'Whether there are more cards' }),
});
