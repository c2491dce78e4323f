import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { archiveCard, restoreCard, setApproval } from '../../../domain/inventory/cards/cards.archive.ts';
import { deleteCard } from '../../../domain/inventory/cards/cards.removal.ts';
import { createCard, patchCard } from '../../../domain/inventory/cards/cards.write.ts';
import { type Ctx, etagOf } from '../../../domain/kernel/context.ts';
import type { JsonText } from '../../../domain/kernel/lists/lists.types.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { Choice, component, itemsUpTo, object, partialObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { likelyDuplicates } from '../../../integrations/analysis/duplicates/warnings.ts';
import { vocabularyOf } from '../../../integrations/analysis/matching/own-words.ts';
import type { ErrorCode } from '../../../platform/errors.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { sendJson, sendResource } from '../../json.ts';
import { created, ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { CardPatchBody, CardSchema, cardValues, Name, removal, WrittenCardSchema } from './cards.schemas.ts';

const CardCreateBody = object({
  type: Type.String({ minLength: 1, maxLength: 100 }),
  name: Name,
  ...cardValues,
});

const CardArchiveBody = object(removal);

const CardRestoreBody = partialObject({
  also_restore_card_ids: Type.Array(Uuid, itemsUpTo(200, 'Cards that were archived by the same operation')),
});

const Ids = (description: string) => Type.Array(Uuid, { description });
const childIds = Ids('Descendants that were removed too, and cards that got another parent');
const relatedIds = Ids('Related cards that were removed too');

const CardArchiveResponse = component('CardArchiveResponse', {
  primary: CardSchema,
  affected_children_ids: childIds,
  affected_related_card_ids: relatedIds,
});

const CardDeleteResponse = component('CardDeleteResponse', {
  deleted_card_ids: Ids('All deleted cards, the requested one first'),
  affected_children_ids: childIds,
  affected_related_card_ids: relatedIds,
});

const CardRestoreResponse = component('CardRestoreResponse', {
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

/** Sends a card that was created or renamed, with warnings of likely duplicates and the ETag of the card itself. */
async function sendNamedCard(
  services: Services,
  { ctx, request, reply }: { ctx: Ctx; request: FastifyRequest; reply: FastifyReply },
  card: JsonText,
): Promise<FastifyReply> {
  const readVocabulary = async () =>
    vocabularyOf((await settingsOf(services, request)).values.matching_vocabulary);
  const warnings = await likelyDuplicates(ctx, JSON.parse(card), readVocabulary);
  const text = warnings.length > 0 ? `${card.slice(0, -1)},"warnings":${JSON.stringify(warnings)}}` : card;
  return sendJson(reply.header('etag', etagOf(card)), text);
}

/** Write operations of cards. Responses contain the complete card and its ETag. */
export function registerCardWriteRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.post('createCard', '/api/v1/cards', {
    summary: 'Create a card',
    description:
      'The card is active and DRAFT; its data quality and, for business capabilities, its level are computed. Values are checked against the card type.',
    permission: 'inventory.create',
    permissionNote: 'costs.view for cost attributes',
    body: CardCreateBody,
    responses: created('The card', WrittenCardSchema, 'Location'),
    errors: ['use_operation', ...clashes],
    handler: async ({ ctx, body, request, reply }) => {
      const { id, text } = await createCard(ctx, body);
      reply.code(201).header('location', `/api/v1/cards/${id}`);
      return await sendNamedCard(services, { ctx, request, reply }, text);
    },
  });

  routes.patch('patchCard', '/api/v1/cards/:id', {
    summary: 'Change a card',
    description:
      'Only members that are sent change; null clears; attributes and lifecycle merge key by key. An approved card whose content changes becomes BROKEN. A patch without changes writes nothing. Cost values that the caller may not see do not change. `If-Match` prevents lost updates.',
    ...onCard('inventory.edit', 'card.edit'),
    body: CardPatchBody,
    responses: ok('The card', WrittenCardSchema, 'ETag'),
    errors: ['use_operation', 'parent_cycle', 'too_many_descendants', 'costs_by_period', ...clashes],
    handler: async ({ ctx, params, body, request, reply }) => {
      const { text, isRenamed } = await patchCard(ctx, params.id, body);
      return isRenamed
        ? await sendNamedCard(services, { ctx, request, reply }, text)
        : sendResource(reply, text);
    },
  });

  routes.post('archiveCard', '/api/v1/cards/:id/archive', {
    summary: 'Archive a card, optionally with children and related cards',
    description:
      'GET /cards/{id}/archive-impact previews what would be affected. Each card that is archived too requires the same right; each child that gets another parent requires the right to edit.',
    ...onCard('inventory.archive', 'card.archive'),
    body: CardArchiveBody,
    responses: ok('The archived card and the other affected cards', CardArchiveResponse),
    ifMatch: true,
    errors: ['children_present', 'sibling_name_taken', 'too_many_descendants', 'wrong_state'],
    handler: ({ ctx, params, body }) => archiveCard(ctx, params.id, body),
  });

  routes.post('restoreCard', '/api/v1/cards/:id/restore', {
    summary: 'Restore an archived card, with cards that were archived together with it',
    description:
      'GET /cards/{id}/restore-impact lists the cards that can be restored with it. A card below an archived one is restored together with it or after it.',
    ...onCard('inventory.archive', 'card.archive'),
    body: CardRestoreBody,
    responses: ok('The card and the cards restored with it', CardRestoreResponse),
    ifMatch: true,
    errors: ['sibling_name_taken', 'wrong_state'],
    handler: ({ ctx, params, body }) => restoreCard(ctx, params.id, body),
  });

  routes.delete('deleteCard', '/api/v1/cards/:id', {
    summary: 'Delete a card permanently',
    description:
      'Its relations, tags and stakeholders are deleted too; its events remain, the last one with all its values. Each card that is deleted too requires the same right; each child that gets another parent requires the right to edit.',
    ...onCard('inventory.delete', 'card.delete'),
    body: CardArchiveBody,
    responses: ok('The deleted and the affected cards', CardDeleteResponse),
    ifMatch: true,
    errors: ['children_present', 'sibling_name_taken', 'too_many_descendants'],
    handler: ({ ctx, params, body }) => deleteCard(ctx, params.id, body),
  });

  routes.post('setCardApproval', '/api/v1/cards/:id/approval-status', {
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
