import { archiveCard, restoreCard, setApproval } from '../../../domain/inventory/cards/cards.archive.ts';
import { deleteCard } from '../../../domain/inventory/cards/cards.removal.ts';
import { createCard, patchCard } from '../../../domain/inventory/cards/cards.write.ts';
import type { ErrorCode } from '../../../platform/errors.ts';
import { sendResource } from '../../json.ts';
import { ok, routesOf } from '../../operation.ts';
import * as bodies from '../../schemas/card-bodies.ts';
import { CardSchema } from '../../schemas/cards.ts';
import type { App } from '../../types.ts';

const clashes: ErrorCode[] = ['sibling_name_taken', 'external_id_taken', 'capability_too_deep'];

/** An application permission, or the same right by a stakeholder role on each affected card. */
const onCard = (permission: string, ofRole: string) =>
  ({ permission: 'login', permissionNote: `${permission} or ${ofRole}` }) as const;

/** Write operations of cards. Responses contain the complete card and its ETag. */
export function registerCardWriteRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.post('/api/v1/cards', {
    id: 'createCard',
    summary: 'Create a card',
    description:
      'The card is active and DRAFT; its data quality and, for business capabilities, its level are computed. Values are checked against the card type.',
    permission: 'inventory.create',
    permissionNote: 'costs.view for cost attributes',
    body: bodies.CardCreateBody,

    answers: {
      201: { description: 'The card', schema: CardSchema, headers: ['Location', 'ETag'] },
    },
    errors: ['use_operation', ...clashes],
    handler: async ({ ctx, body, reply }) => {
      const { id, text } = await createCard(ctx, body);
      return sendResource(reply.code(201).header('location', `/api/v1/cards/${id}`), text);
    },
  });

  routes.patch('/api/v1/cards/:id', {
    id: 'patchCard',
    summary: 'Change a card',
    description:
      'Only members that are sent change; null clears; attributes and lifecycle merge key by key. An approved card whose content changes becomes BROKEN. A patch without changes writes nothing. Cost values that the caller may not see do not change. `If-Match` prevents lost updates.',
    ...onCard('inventory.edit', 'card.edit'),
    body: bodies.CardPatchBody,

    answers: ok('The card', CardSchema, 'ETag'),
    errors: ['use_operation', 'parent_cycle', 'precondition_failed', 'too_many_descendants', ...clashes],
    handler: ({ ctx, params, body }) => patchCard(ctx, params.id, body),
  });

  routes.post('/api/v1/cards/:id/archive', {
    id: 'archiveCard',
    summary: 'Archive a card, optionally with children and related cards',
    description:
      'GET /cards/{id}/archive-impact previews what would be affected. Each card that is archived too requires the same right; each child that gets another parent requires the right to edit.',
    ...onCard('inventory.archive', 'card.archive'),
    body: bodies.CardArchiveBody,

    answers: ok('The archived card and the other affected cards', bodies.CardArchiveAnswer),
    errors: [
      'children_present',
      'precondition_failed',
      'sibling_name_taken',
      'too_many_descendants',
      'wrong_state',
    ],
    handler: ({ ctx, params, body }) => archiveCard(ctx, params.id, body ?? {}),
  });

  routes.post('/api/v1/cards/:id/restore', {
    id: 'restoreCard',
    summary: 'Restore an archived card, with cards that were archived together with it',
    description:
      'GET /cards/{id}/restore-impact lists the cards that can be restored with it. A card below an archived one is restored together with it or after it.',
    ...onCard('inventory.archive', 'card.archive'),
    body: bodies.CardRestoreBody,

    answers: ok('The card and the cards restored with it', bodies.CardRestoreAnswer),
    errors: ['precondition_failed', 'sibling_name_taken', 'wrong_state'],
    handler: ({ ctx, params, body }) => restoreCard(ctx, params.id, body ?? {}),
  });

  routes.delete('/api/v1/cards/:id', {
    id: 'deleteCard',
    summary: 'Delete a card permanently',
    description:
      'Its relations, tags and stakeholders are deleted too; its events remain, the last one with all its values. Each card that is deleted too requires the same right; each child that gets another parent requires the right to edit.',
    ...onCard('inventory.delete', 'card.delete'),
    body: bodies.CardArchiveBody,

    answers: ok('The deleted and the affected cards', bodies.CardDeleteAnswer),
    errors: ['children_present', 'precondition_failed', 'sibling_name_taken', 'too_many_descendants'],
    handler: ({ ctx, params, body }) => deleteCard(ctx, params.id, body ?? {}),
  });

  routes.post('/api/v1/cards/:id/approval-status', {
    id: 'setCardApproval',
    summary: 'Approve, reject or reset a card',
    description:
      'Approving is refused while a mandatory relation or tag is missing; the problem names them as `missing_relations` and `missing_tag_groups`.',
    ...onCard('inventory.approval_status', 'card.approval_status'),
    query: bodies.approvalQuery,
    answers: ok('The card', CardSchema, 'ETag'),
    errors: ['approval_blocked_mandatory_missing', 'precondition_failed', 'wrong_state'],
    handler: ({ ctx, params, query }) => setApproval(ctx, params.id, query.action),
  });
}
