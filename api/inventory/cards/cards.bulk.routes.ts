import {
  archiveCards,
  deleteCards,
  restoreCards,
} from '../../../domain/inventory/cards/bulk/bulk.archive.ts';
import { createCards } from '../../../domain/inventory/cards/bulk/bulk.create.ts';
import { patchCards } from '../../../domain/inventory/cards/bulk/bulk.patch.ts';
import { resolvePaths } from '../../../domain/inventory/cards/cards.refs.ts';
import { ok, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/card-bulk.ts';
import type { App } from '../../types.ts';

const MIB = 1024 * 1024;

/** Operations on many cards, with the rules of single cards. */
export function registerCardBulkRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.patch('/api/v1/cards/bulk', {
    id: 'patchCards',
    summary: 'Apply one change to many cards',
    description:
      'The rules of PATCH /cards/{id} apply to each card: approvals break, data quality is computed, each changed card has an event. All cards are changed or, if one is refused, none; the problem names that card as `card_id`. Unknown ids are reported as `not_found`.',
    permission: 'inventory.bulk_edit',
    permissionNote: 'inventory.edit or card.edit on each card',
    body: schemas.CardBulkPatchBody,

    bodyLimit: 2 * MIB,
    answers: ok('The result of each card', schemas.CardBulkPatchAnswer),
    errors: [
      'capability_too_deep',
      'external_id_taken',
      'parent_cycle',
      'sibling_name_taken',
      'too_many_descendants',
      'use_operation',
    ],
    handler: ({ ctx, body }) => patchCards(ctx, body.ids, body.updates, body.dry_run),
  });

  routes.post('/api/v1/cards/bulk-create', {
    id: 'createCards',
    summary: 'Create many cards',
    description:
      'Rows are executed in order by the rules of POST /cards, in one transaction; the parent of a row can be an earlier row. A row that fails is reported with `error` and `code`; other rows are executed, except rows below it.',
    permission: 'inventory.create',
    permissionNote: 'costs.view for cost attributes',
    body: schemas.CardBulkCreateBody,

    bodyLimit: 16 * MIB,
    answers: ok('The result of each row', schemas.CardBulkCreateAnswer),
    errors: ['sibling_name_taken', 'external_id_taken'],
    handler: ({ ctx, body }) => createCards(ctx, body.cards, body.dry_run),
  });

  registerCardBulkStatusRoutes(app);
}

/** Bulk changes of the status of cards. */
function registerCardBulkStatusRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.post('/api/v1/cards/bulk-archive', {
    id: 'archiveCards',
    summary: 'Archive many cards',
    description:
      'All cards or, if one is refused, none; the problem names the cards as `card_ids`. No `child_strategy` is required for children that are among the cards. Archived cards and unknown ids are skipped.',
    permission: 'login',
    permissionNote: 'inventory.archive or card.archive on each card',
    body: schemas.CardBulkRemovalBody,

    bodyLimit: 2 * MIB,
    answers: ok('What was archived', schemas.CardBulkArchiveAnswer),
    errors: ['children_present', 'sibling_name_taken', 'too_many_descendants'],
    handler: async ({ ctx, body }) => {
      const { removed, ...answer } = await archiveCards(ctx, body);
      return { archived_card_ids: removed, ...answer };
    },
  });

  routes.post('/api/v1/cards/bulk-delete', {
    id: 'deleteCards',
    summary: 'Delete many cards permanently',
    description:
      'All cards or, if one is refused, none; the problem names the cards as `card_ids`. No `child_strategy` is required for children that are among the cards. Unknown ids are skipped.',
    permission: 'login',
    permissionNote: 'inventory.delete or card.delete on each card',
    body: schemas.CardBulkRemovalBody,

    bodyLimit: 2 * MIB,
    answers: ok('What was deleted', schemas.CardBulkDeleteAnswer),
    errors: ['children_present', 'sibling_name_taken', 'too_many_descendants'],
    handler: async ({ ctx, body }) => {
      const { removed, ...answer } = await deleteCards(ctx, body);
      return { deleted_card_ids: removed, ...answer };
    },
  });

  routes.post('/api/v1/cards/bulk-restore', {
    id: 'restoreCards',
    summary: 'Restore many archived cards',
    description:
      'All cards or, if one is refused, none. A card below another of the cards is restored together with it. Active cards and unknown ids are skipped.',
    permission: 'login',
    permissionNote: 'inventory.archive or card.archive on each card',
    body: schemas.CardBulkRestoreBody,

    bodyLimit: 2 * MIB,
    answers: ok('What was restored', schemas.CardBulkRestoreAnswer),
    errors: ['sibling_name_taken', 'wrong_state'],
    handler: ({ ctx, body }) => restoreCards(ctx, body),
  });

  routes.post('/api/v1/cards/resolve-refs', {
    id: 'resolveCardRefs',
    summary: 'Resolve paths of names to cards',
    description:
      'Only active cards of the type, compared case-insensitively. A path can omit ancestors at its beginning; it is `ambiguous` if it matches several cards. A complete path from the root always resolves to its card.',
    permission: 'inventory.view',
    body: schemas.CardRefsBody,

    bodyLimit: 16 * MIB,
    answers: ok('The result of each reference', schemas.CardRefsAnswer),
    handler: async ({ ctx, body }) => ({ results: await resolvePaths(ctx, body.refs) }),
  });
}
