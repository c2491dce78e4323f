import type { Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { mitigationsDueJob } from './mitigations.due.job.ts';
import { unlinkDeletedCards } from './risks.cards.ts';
import { riskCardEvent } from './risks.events.ts';
import { disownRisks } from './risks.leave.ts';
import { MitigationTask, Occurrence, Risk, RiskCard, type RiskCardRow } from './risks.model.ts';
import { RISKS_TOPIC } from './risks.topics.ts';

const undo = { right: needs('risks.manage') };
const topics = [RISKS_TOPIC];

const resources: readonly Resource[] = [
  {
    model: Risk,
    name: 'risk',
    events: { created: ['risk.created'], updated: ['risk.updated'], deleted: ['risk.deleted'] },
    topics,
    undo,
    transfer: { label: 't.reference' },
    asOf: true,
  },
  {
    model: RiskCard,
    name: 'risk link',
    events: { created: ['risk.added'], updated: ['risk.role_changed'], deleted: ['risk.removed'] },
    card: 'card_id',
    topics,
    undo,
    cardReferences: [
      {
        column: 'card_id',
        once: {
          by: ['risk_id'],
          event: (card, type, row, _user, gone) => {
            const link = row as RiskCardRow;
            return riskCardEvent(
              { id: card.id, type: type.key },
              undefined,
              gone ? link : null,
              gone ? null : link,
            );
          },
        },
      },
    ],
    transfer: { matches: [['%.risk_id', '%.card_id']] },
    asOf: true,
  },
  {
    model: MitigationTask,
    name: 'mitigation task',
    events: {
      created: ['risk_mitigation_task.created'],
      updated: ['risk_mitigation_task.updated'],
      deleted: ['risk_mitigation_task.deleted'],
    },
    undo,
    transfer: { label: 't.reference' },
  },
  {
    model: Occurrence,
    name: 'occurrence of a mitigation task',
    events: {
      created: ['risk_mitigation_task.occurrence_added'],
      updated: [
        'risk_mitigation_task.occurrence_updated',
        'risk_mitigation_task.activated',
        'risk_mitigation_task.completed',
        'risk_mitigation_task.skipped',
      ],
      deleted: ['risk_mitigation_task.occurrence_removed'],
    },
    undo,
    transfer: {},
  },
];

/** The risk register. */
export const risksExtension: Extension = {
  resources,
  jobs: [mitigationsDueJob],
  async deleteWithCards(work, cards) {
    await unlinkDeletedCards(work, new Map(cards.map((card) => [card.id, card])));
  },
  async deleteWithUsers(work, _ctx, users) {
    await disownRisks(
      work,
      users.map(({ id }) => id),
    );
  },
};
