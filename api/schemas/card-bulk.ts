import Type from 'typebox';
import { Choice, component, Nullable, OpenObject, object, Uuid } from '../../domain/kernel/shapes.ts';
import { CardPatchBody, ClearableText, cardValues, Name, removal } from './card-bodies.ts';

const MAX_CARDS = 10_000;
const MAX_ROWS = 2_000;
const MAX_REFS = 5_000;

const Ids = (description: string) =>
  Type.Array(Uuid, {
    minItems: 1,
    maxItems: MAX_CARDS,
    description: `${description}; duplicates count once`,
  });
const DryRun = Type.Boolean({ default: false, description: 'Return the same response without writing' });
const Count = Type.Integer({ minimum: 0 });
const IdList = (description: string) => Type.Array(Uuid, { description });
const RowIndex = Type.Integer({ description: "A number of the caller's choice, returned with the result" });
export const CardBulkPatchBody = object({ ids: Ids('Cards'), updates: CardPatchBody, dry_run: DryRun });

export const CardBulkPatchAnswer = component('CardBulkPatchAnswer', {
  dry_run: Type.Boolean(),
  results: Type.Array(
    object({
      row_index: Type.Integer({ description: 'The index of the id in the request, from 0' }),
      card_id: Uuid,
      status: Choice(['updated', 'would_update', 'unchanged', 'not_found']),
      id: Nullable(Uuid),
      before: Type.Record(Type.String(), Type.Unknown(), {
        description: 'The former values of changed members',
      }),
      after: OpenObject,
    }),
  ),
  updated: Count,
  would_update: Count,
});

const { status: _, approval_status: __, ...creatable } = cardValues;
const PathStep = Type.String({ minLength: 1, maxLength: 500 });

export const CardBulkCreateBody = object({
  cards: Type.Array(
    object({
      row_index: RowIndex,
      type: Type.String({ minLength: 1, maxLength: 100 }),
      name: Name,
      ...creatable,
      parent_path: Type.Optional(
        Type.Unsafe<string[] | null>({
          type: ['array', 'null'],
          items: PathStep,
          maxItems: 100,
          description:
            'Names from the root to the parent, or, with `parent_name`, to the parent’s parent; existing cards or earlier rows',
        }),
      ),
      parent_name: ClearableText({ maxLength: 500, description: 'The name of the parent' }),
      approval_status: Type.Optional(
        Type.Unsafe<'DRAFT' | 'APPROVED' | 'REJECTED' | 'BROKEN' | null>({
          type: ['string', 'null'],
          enum: ['DRAFT', 'APPROVED', 'REJECTED', 'BROKEN', null],
          description: 'A value other than `DRAFT` requires inventory.approval_status',
        }),
      ),
    }),
    { minItems: 1, maxItems: MAX_ROWS },
  ),
  dry_run: DryRun,
});

export const CardBulkCreateAnswer = component('CardBulkCreateAnswer', {
  results: Type.Array(
    object({
      row_index: RowIndex,
      status: Choice(['created', 'failed']),
      id: Nullable(Uuid),
      error: Nullable(Type.String()),
      code: Nullable(Type.String()),
    }),
  ),
  created: Count,
  failed: Count,
  dry_run: Type.Boolean(),
});

const { related_card_ids: ___, ...bulkRemoval } = removal;

export const CardBulkRemovalBody = object({ card_ids: Ids('Cards'), ...bulkRemoval, dry_run: DryRun });

export const CardBulkRestoreBody = object({ card_ids: Ids('Archived cards'), dry_run: DryRun });

const Skipped = (...reasons: string[]) =>
  Type.Array(
    object({ card_id: Uuid, reason: reasons.length === 1 ? Type.Literal(reasons[0]!) : Choice(reasons) }),
  );
const affected = {
  cascaded_card_ids: IdList('Descendants and related cards that were removed too'),
  moved_card_ids: IdList('Cards that got another parent'),
};

export const CardBulkArchiveAnswer = component('CardBulkArchiveAnswer', {
  requested: Count,
  archived_card_ids: IdList('Of those that were asked for'),
  ...affected,
  skipped: Skipped('already_archived', 'not_found'),
  dry_run: Type.Boolean(),
});

export const CardBulkDeleteAnswer = component('CardBulkDeleteAnswer', {
  requested: Count,
  deleted_card_ids: IdList('Of those that were asked for'),
  ...affected,
  skipped: Skipped('not_found'),
  dry_run: Type.Boolean(),
});

export const CardBulkRestoreAnswer = component('CardBulkRestoreAnswer', {
  requested: Count,
  restored_card_ids: IdList('Of those that were asked for'),
  skipped: Skipped('already_active', 'not_found'),
  dry_run: Type.Boolean(),
});

export const CardRefsBody = object({
  refs: Type.Array(
    object({
      row: Type.Integer({
        description: "A number of the caller's choice, returned with the result",
      }),
      column: Type.String({ maxLength: 500 }),
      type: Type.String({ minLength: 1, maxLength: 100 }),
      ref: Type.String({
        maxLength: 10_000,
        description:
          '`Name`, or `Parent / Name` with any number of ancestors; `\\/` and `\\\\` are those characters',
      }),
    }),
    { maxItems: MAX_REFS },
  ),
});

export const CardRefsAnswer = component('CardRefsAnswer', {
  results: Type.Array(
    object({
      row: Type.Integer(),
      column: Type.String(),
      status: Choice(['resolved', 'ambiguous', 'missing']),
      id: Nullable(Uuid),
      candidates: Nullable(
        Type.Array(object({ id: Uuid, path: Type.String() }), {
          description: 'The first five matches of an ambiguous reference, each with its complete path',
        }),
      ),
    }),
  ),
});
