import Type from 'typebox';
import { archiveCard, restoreCard, setApproval } from '../../../domain/inventory/cards/cards.archive.ts';
import { deleteCard } from '../../../domain/inventory/cards/cards.removal.ts';
import { createCard, patchCard } from '../../../domain/inventory/cards/cards.write.ts';
import { Choice, component, object, partialObject, Uuid } from '../../../domain/kernel/shapes.ts';
import type { ErrorCode } from '../../../platform/errors.ts';
import { sendResource } from '../../json.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { CardPatchBody, CardSchema, cardValues, Name, removal } from './cards.schemas.ts';

const CardCreateBody = object({
  type: Type.String({ minLength: 1, maxLength: 100 }),
  name: Name,
  ...cardValues,
});

const CardArchiveBody = object(removal);

const CardRestoreBody = partialObject({
  also_restore_card_ids: Type.Array(Uuid, {
    maxItems: 200,
    description: 'Cards that were archived by the same operation',
  }),
});

const Ids = (description: string) => Type.Array(Uuid, { description });
const childIds = Ids('Descendants that were removed too, and cards that got another parent');
const relatedIds = Ids('Related cards that were removed too');

const CardArchiveAnswer = component('CardArchiveAnswer', {
  primary: CardSchema,
  affected_children_ids: childIds,
  affected_related_card_ids: relatedIds,
});

const CardDeleteAnswer = component('CardDeleteAnswer', {
  deleted_card_ids: Ids('All deleted cards, the requested one first'),
  affected_children_ids: childIds,
  affected_related_card_ids: relatedIds,
});

const CardRestoreAnswer = component('CardRestoreAnswer', {
  primary: CardSchema,
  restored_passenger_ids: Ids('Cards restored with it'),
});

const approvalQuery = object({
  action: Choice(['approve', 'reject', 'reset']),
});

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
    body: CardCreateBody,
    responses: {
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
    body: CardPatchBody,
    responses: ok('The card', CardSchema, 'ETag'),
    errors: ['use_operation', 'parent_cycle', 'too_many_descendants', ...clashes],
    handler: ({ ctx, params, body }) => patchCard(ctx, params.id, body),
  });

  routes.post('/api/v1/cards/:id/archive', {
    id: 'archiveCard',
    summary: 'Archive a card, optionally with children and related cards',
    description:
      'GET /cards/{id}/archive-impact previews what would be affected. Each card that is archived too requires the same right; each child that gets another parent requires the right to edit.',
    ...onCard('inventory.archive', 'card.archive'),
    body: CardArchiveBody,
    responses: ok('The archived card and the other affected cards', CardArchiveAnswer),
    ifMatch: true,
    errors: ['children_present', 'sibling_name_taken', 'too_many_descendants', 'wrong_state'],
    handler: ({ ctx, params, body }) => archiveCard(ctx, params.id, body),
  });

  routes.post('/api/v1/cards/:id/restore', {
    id: 'restoreCard',
    summary: 'Restore an archived card, with cards that were archived together with it',
    description:
      'GET /cards/{id}/restore-impact lists the cards that can be restored with it. A card below an archived one is restored together with it or after it.',
    ...onCard('inventory.archive', 'card.archive'),
    body: CardRestoreBody,
    responses: ok('The card and the cards restored with it', CardRestoreAnswer),
    ifMatch: true,
    errors: ['sibling_name_taken', 'wrong_state'],
    handler: ({ ctx, params, body }) => restoreCard(ctx, params.id, body),
  });

  routes.delete('/api/v1/cards/:id', {
    id: 'deleteCard',
    summary: 'Delete a card permanently',
    description:
      'Its relations, tags and stakeholders are deleted too; its events remain, the last one with all its values. Each card that is deleted too requires the same right; each child that gets another parent requires the right to edit.',
    ...onCard('inventory.delete', 'card.delete'),
    body: CardArchiveBody,
    responses: ok('The deleted and the affected cards', CardDeleteAnswer),
    ifMatch: true,
    errors: ['children_present', 'sibling_name_taken', 'too_many_descendants'],
    handler: ({ ctx, params, body }) => deleteCard(ctx, params.id, body),
  });

  routes.post('/api/v1/cards/:id/approval-status', {
    id: 'setCardApproval',
    summary: 'Approve, reject or reset a card',
    description:
      'Approving is refused while a mandatory relation or tag is missing; the problem names them as `missing_relations` and `missing_tag_groups`.',
    ...onCard('inventory.approval_status', 'card.approval_status'),
    query: approvalQuery,
    responses: ok('The card', CardSchema, 'ETag'),
    ifMatch: true,
    errors: ['approval_blocked_mandatory_missing', 'wrong_state'],
    handler: ({ ctx, params, query }) => setApproval(ctx, params.id, query.action),
  });
}
