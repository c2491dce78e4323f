import Type from 'typebox';
import { CardMerge } from '../../domain/inventory/cards/cards.model.ts';
import { component, itemComponent, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';
import { CardSchema } from './cards.ts';
import { listAnswer } from './common.ts';

const MAX_MERGED = 50;
const Count = Type.Integer({ minimum: 0 });
const DryRun = Type.Boolean({ default: false, description: 'Answers the same and writes nothing' });

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
          'By field (`name`, `subtype`, `alias`, `description`, `external_id`, `parent_id`, `lifecycle`, `attributes.<key>`): the id of the card whose value stays, or `{"value": …}`. Without a choice the survivor keeps what it has and takes what it lacks from the first of the others that has it; its name and parent are its own.',
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
    description: 'How many things the survivor was given, by kind: `child`, `relation`, `tag`, `comment` …',
  }),
  folded_relations: Type.Array(object({ ...Relation, kept_id: Uuid }), {
    description:
      'Relations to a card to which the survivor has one of the type already, which takes over what it lacked',
  }),
  dropped_relations: Type.Array(object(Relation), {
    description: 'Relations between the merged cards themselves',
  }),
  dropped_tags: Type.Array(object({ id: Uuid, name: Type.String(), group_name: Type.String() }), {
    description: 'Tags of groups of which a card has one at most, where the survivor has another',
  }),
});

export const UndoMergeBody = Type.Unsafe<{ dry_run?: boolean; force?: boolean } | null | undefined>({
  ...object({
    dry_run: Type.Optional(DryRun),
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Leaves what has changed since the merge as it is, and brings back the rest',
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
    { description: 'What was left as it is; empty without `force`' },
  ),
});

const { journal: _internal, ...columns } = CardMerge.columns;
const members = {
  ...columns,
  survivor_name: Nullable(Type.String({ description: 'Null when the card is gone' })),
  created_by_name: Nullable(Type.String()),
  undone_by_name: Nullable(Type.String()),
};

export const CardMergeSchema = component('CardMerge', members);
const CardMergeItem = itemComponent('CardMergeItem', members);
export const CardMergeList = listAnswer(CardMergeItem);
