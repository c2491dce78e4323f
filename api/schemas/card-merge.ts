import Type from 'typebox';
import { CardMerge } from '../../domain/inventory/cards/cards.model.ts';
import { component, itemComponent, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';
import { CardSchema } from './cards.ts';
import { listAnswer } from './common.ts';

const MAX_MERGED = 50;
const Count = Type.Integer({ minimum: 0 });
const DryRun = Type.Boolean({ default: false, description: 'Return the same response without writing' });

export const CardMergeBody = object({
  survivor_id: Uuid,
  merged_ids: Type.Array(Uuid, {
    minItems: 1,
    maxItems: MAX_MERGED,
    description: 'Cards of the same type, active or archived, the most trusted first',
  }),
  fields: Type.Optional(
    Type.Record(
      Type.String({ minLength: 1, maxLength: 200 }),
      Type.Union([Uuid, object({ value: Type.Unknown() })]),
      {
        description:
          'By field (`name`, `subtype`, `alias`, `description`, `external_id`, `parent_id`, `lifecycle`, `attributes.<key>`): the id of the card whose value is used, or `{"value": …}`. By default the survivor retains its values, and an empty field gets the value of the first other card that has one; name and parent do not change.',
      },
    ),
  ),
  dry_run: DryRun,
});

const Relation = { id: Uuid, type: Type.String() };

export const CardMergeAnswer = component('CardMergeAnswer', {
  merge_id: Nullable(Uuid),
  dry_run: Type.Boolean(),
  survivor: CardSchema,
  merged_card_ids: Type.Array(Uuid),
  moved: Type.Record(Type.String(), Count, {
    description: 'Number of objects moved to the survivor, by kind: `child`, `relation`, `tag`, `comment` …',
  }),
  folded_relations: Type.Array(object({ ...Relation, kept_id: Uuid }), {
    description:
      'Relations to a card to which the survivor already has one of the type; missing values were copied to it',
  }),
  dropped_relations: Type.Array(object(Relation), {
    description: 'Relations between the merged cards themselves',
  }),
  dropped_tags: Type.Array(object({ id: Uuid, name: Type.String(), group_name: Type.String() }), {
    description: 'Tags of single-choice groups of which the survivor has another tag',
  }),
});

export const UndoMergeBody = Type.Unsafe<{ dry_run?: boolean; force?: boolean } | null | undefined>({
  ...object({
    dry_run: Type.Optional(DryRun),
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Skip what has changed since the merge, and restore the rest',
      }),
    ),
  }),
  type: ['object', 'null'],
});

export const UndoMergeAnswer = component('UndoMergeAnswer', {
  merge_id: Uuid,
  dry_run: Type.Boolean(),
  survivor: CardSchema,
  restored_card_ids: Type.Array(Uuid),
  conflicts: Type.Array(
    object({
      entity: Type.String(),
      id: Uuid,
      field: Nullable(Type.String()),
      code: Type.String(),
      message: Type.String(),
    }),
    { description: 'Skipped changes; empty without `force`' },
  ),
});

const members = {
  ...CardMerge.columns,
  survivor_name: Nullable(Type.String({ description: 'Null if the card was deleted' })),
  created_by_name: Nullable(Type.String()),
  undone_by_name: Nullable(Type.String()),
};

export const CardMergeSchema = component('CardMerge', members);
const CardMergeItem = itemComponent('CardMergeItem', members);
export const CardMergeList = listAnswer(CardMergeItem);
