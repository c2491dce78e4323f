import Type, { type TProperties } from 'typebox';
import { setApprovals } from '../../../domain/inventory/cards/bulk/bulk.approval.ts';
import { createCards } from '../../../domain/inventory/cards/bulk/bulk.create.ts';
import { archiveCards, deleteCards, restoreCards } from '../../../domain/inventory/cards/bulk/bulk.each.ts';
import { patchCards } from '../../../domain/inventory/cards/bulk/bulk.patch.ts';
import { resolvePaths } from '../../../domain/inventory/cards/cards.refs.ts';
import { changeTags } from '../../../domain/inventory/tags/tags.bulk.ts';
import {
  Choice,
  Clearable,
  Count,
  component,
  Flag,
  itemsIn,
  keyed,
  Nullable,
  OpenObject,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import { FieldErrorSchema } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { CardPatchBody, cardValues, Name, removal } from './cards.schemas.ts';

const MAX_CARDS = 10_000;
const MAX_ROWS = 2_000;
const MAX_REFS = 5_000;

const Ids = (description: string) =>
  Type.Array(Uuid, itemsIn(1, MAX_CARDS, `${description}; duplicates count once`));
const DryRun = Flag('Return the same response without writing');
const IdList = (description: string) => Type.Array(Uuid, { description });
const RowIndex = Type.Integer({ description: "A number of the caller's choice, returned with the result" });
const CardBulkPatchBody = object({
  ids: Ids('Cards'),
  updates: CardPatchBody,
  if_match: Type.Optional(
    keyed(36, Type.String({ maxLength: 200 }), {
      maxProperties: 200,
      description: 'ETags of cards as they were read, by id; if one has changed since, nothing is written',
    }),
  ),
  dry_run: DryRun,
});

const CardBulkPatchResponse = component('CardBulkPatchResponse', {
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

const CardBulkCreateBody = object({
  cards: Type.Array(
    object({
      row_index: RowIndex,
      type: Type.String({ minLength: 1, maxLength: 100 }),
      name: Name,
      ...creatable,
      parent_path: Clearable(
        Type.Array(PathStep, {
          maxItems: 100,
          description:
            'Names from the root to the parent, or, with `parent_name`, to the parent’s parent; existing cards or earlier rows',
        }),
      ),
      parent_name: Clearable(Type.String({ maxLength: 500, description: 'The name of the parent' })),
      approval_status: Clearable(
        Choice(
          ['DRAFT', 'APPROVED', 'REJECTED', 'BROKEN'],
          'A value other than `DRAFT` requires inventory.approval_status',
        ),
      ),
    }),
    { minItems: 1, maxItems: MAX_ROWS },
  ),
  dry_run: DryRun,
});

const CardBulkCreateResponse = component('CardBulkCreateResponse', {
  results: Type.Array(
    object({
      row_index: RowIndex,
      status: Choice(['created', 'failed']),
      id: Nullable(Uuid),
      error: Nullable(Type.String()),
      code: Nullable(Type.String()),
      errors: Type.Optional(
        Type.Array(FieldErrorSchema, { description: 'Of a row with invalid members, as in a response 422' }),
      ),
    }),
  ),
  created: Count,
  failed: Count,
  dry_run: Type.Boolean(),
});

const { related_card_ids: ___, ...bulkRemoval } = removal;

const CardBulkRemovalBody = object({ card_ids: Ids('Cards'), ...bulkRemoval, dry_run: DryRun });

const CardBulkRestoreBody = object({ card_ids: Ids('Archived cards'), dry_run: DryRun });

const Skipped = (...reasons: string[]) =>
  Type.Array(
    object({ card_id: Uuid, reason: reasons.length === 1 ? Type.Literal(reasons[0]!) : Choice(reasons) }),
  );
const affected = {
  cascaded_card_ids: IdList('Descendants and related cards that were removed too'),
  moved_card_ids: IdList('Cards that got another parent'),
};

const CardBulkArchiveResponse = component('CardBulkArchiveResponse', {
  requested: Count,
  archived_card_ids: IdList('Of those that were asked for'),
  ...affected,
  skipped: Skipped('already_archived', 'not_found'),
  dry_run: Type.Boolean(),
});

const CardBulkDeleteResponse = component('CardBulkDeleteResponse', {
  requested: Count,
  deleted_card_ids: IdList('Of those that were asked for'),
  ...affected,
  skipped: Skipped('not_found'),
  dry_run: Type.Boolean(),
});

const CardBulkRestoreResponse = component('CardBulkRestoreResponse', {
  requested: Count,
  restored_card_ids: IdList('Of those that were asked for'),
  skipped: Skipped('already_active', 'not_found'),
  dry_run: Type.Boolean(),
});

const resultOf = <P extends TProperties>(members: P) =>
  Type.Array(
    object({
      card_id: Uuid,
      status: Choice(['updated', 'unchanged', 'refused', 'not_found']),
      ...members,
      code: Nullable(Type.String()),
      message: Nullable(Type.String()),
    }),
  );
const bulkResponse = <P extends TProperties>($id: string, members: P) =>
  component($id, { dry_run: Type.Boolean(), updated: Count, results: resultOf(members) });

const CardBulkApprovalBody = object({
  card_ids: Ids('Cards'),
  action: Choice(['approve', 'reject', 'reset']),
  dry_run: DryRun,
});
const CardBulkApprovalResponse = bulkResponse('CardBulkApprovalResponse', {
  missing_relations: Type.Array(
    object({ type: Type.String(), side: Choice(['source', 'target']), label: Type.String() }),
  ),
  missing_tag_groups: Type.Array(object({ id: Uuid, name: Type.String() })),
});

const Tags = (description: string) => Type.Array(Uuid, { default: [], maxItems: 100, description });
const CardBulkTagsBody = object({
  card_ids: Ids('Cards'),
  add: Tags('Tags to add'),
  remove: Tags('Tags to remove first'),
  dry_run: DryRun,
});
const CardBulkTagsResponse = bulkResponse('CardBulkTagsResponse', {
  added: IdList('Tags that were added'),
  removed: IdList('Tags that were removed'),
});

const CardRefsBody = object({
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

const CardRefsResponse = component('CardRefsResponse', {
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

const MIB = 1024 * 1024;

/** Operations on many cards, with the rules of single cards. */
export function registerCardBulkRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.patch('patchCards', '/api/v1/cards/bulk', {
    ifMatch: false,
    summary: 'Apply one change to many cards',
    description:
      'The rules of PATCH /cards/{id} apply to each card: approvals break, data quality is computed, each changed card has an event. All cards are changed or, if one is refused, none; the problem names that card as `card_id`. Unknown ids are reported as `not_found`.',
    permission: 'inventory.bulk_edit',
    permissionNote: 'inventory.edit or card.edit on each card',
    body: CardBulkPatchBody,
    bodyLimit: 2 * MIB,
    responses: ok('The result of each card', CardBulkPatchResponse),
    errors: [
      'costs_by_period',
      'capability_too_deep',
      'external_id_taken',
      'parent_cycle',
      'precondition_failed',
      'sibling_name_taken',
      'too_many_descendants',
      'use_operation',
    ],
    handler: ({ ctx, body }) => patchCards(ctx, body.ids, body.updates, body.dry_run, body.if_match),
  });

  routes.post('createCards', '/api/v1/cards/bulk-create', {
    summary: 'Create many cards',
    description:
      'Rows are executed in order by the rules of POST /cards, in one transaction; the parent of a row can be an earlier row. A row that fails is reported with `error` and `code`; other rows are executed, except rows below it.',
    permission: 'inventory.create',
    permissionNote: 'costs.view for cost attributes',
    body: CardBulkCreateBody,
    bodyLimit: 16 * MIB,
    responses: ok('The result of each row', CardBulkCreateResponse),
    errors: ['sibling_name_taken', 'external_id_taken'],
    handler: ({ ctx, body }) => createCards(ctx, body.cards, body.dry_run),
  });

  registerCardBulkStatusRoutes(app);
}

/** Bulk changes of the status of cards. */
function registerCardBulkStatusRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards', permission: 'login' });

  routes.post('archiveCards', '/api/v1/cards/bulk-archive', {
    summary: 'Archive many cards',
    description:
      'All cards or, if one is refused, none; the problem names the cards as `card_ids`. No `child_strategy` is required for children that are among the cards. Archived cards and unknown ids are skipped.',
    permissionNote: 'inventory.archive or card.archive on each card',
    body: CardBulkRemovalBody,
    bodyLimit: 2 * MIB,
    responses: ok('What was archived', CardBulkArchiveResponse),
    errors: ['children_present', 'sibling_name_taken', 'too_many_descendants'],
    handler: async ({ ctx, body }) => {
      const { removed, ...answer } = await archiveCards(ctx, body);
      return { archived_card_ids: removed, ...answer };
    },
  });

  routes.post('deleteCards', '/api/v1/cards/bulk-delete', {
    summary: 'Delete many cards permanently',
    description:
      'All cards or, if one is refused, none; the problem names the cards as `card_ids`. No `child_strategy` is required for children that are among the cards. Unknown ids are skipped.',
    permissionNote: 'inventory.delete or card.delete on each card',
    body: CardBulkRemovalBody,
    bodyLimit: 2 * MIB,
    responses: ok('What was deleted', CardBulkDeleteResponse),
    errors: ['children_present', 'sibling_name_taken', 'too_many_descendants'],
    handler: async ({ ctx, body }) => {
      const { removed, ...answer } = await deleteCards(ctx, body);
      return { deleted_card_ids: removed, ...answer };
    },
  });

  routes.post('restoreCards', '/api/v1/cards/bulk-restore', {
    summary: 'Restore many archived cards',
    description:
      'All cards or, if one is refused, none. A card below another of the cards is restored together with it. Active cards and unknown ids are skipped.',
    permissionNote: 'inventory.archive or card.archive on each card',
    body: CardBulkRestoreBody,
    bodyLimit: 2 * MIB,
    responses: ok('What was restored', CardBulkRestoreResponse),
    errors: ['sibling_name_taken', 'wrong_state'],
    handler: ({ ctx, body }) => restoreCards(ctx, body),
  });

  routes.post('setCardApprovals', '/api/v1/cards/bulk-approval', {
    summary: 'Approve, reject or reset many cards',
    description: 'A refused card does not prevent the others; its result names what it lacks.',
    permissionNote: 'inventory.approval_status or card.approval_status on each card',
    body: CardBulkApprovalBody,
    bodyLimit: 2 * MIB,
    responses: ok('The result of each card', CardBulkApprovalResponse),
    handler: ({ ctx, body }) => setApprovals(ctx, body),
  });

  routes.post('changeCardTags', '/api/v1/cards/bulk-tags', {
    summary: 'Remove and add tags on many cards',
    description:
      'A refused card does not prevent the others: one of a type for which the tag is not, or with another tag of a group that allows one. To replace a tag, remove the others of its group.',
    permission: 'inventory.bulk_edit',
    permissionNote: 'inventory.edit or card.edit on each card',
    body: CardBulkTagsBody,
    bodyLimit: 2 * MIB,
    responses: ok('The result of each card', CardBulkTagsResponse),
    handler: ({ ctx, body }) => changeTags(ctx, body),
  });

  routes.post('resolveCardRefs', '/api/v1/cards/resolve-refs', {
    summary: 'Resolve paths of names to cards',
    description:
      'Only active cards of the type, compared case-insensitively. A path can omit ancestors at its beginning; it is `ambiguous` if it matches several cards. A complete path from the root always resolves to its card.',
    permission: 'inventory.view',
    body: CardRefsBody,
    bodyLimit: 16 * MIB,
    responses: ok('The result of each reference', CardRefsResponse),
    handler: async ({ ctx, body }) => ({ results: await resolvePaths(ctx, body.refs) }),
  });
}
