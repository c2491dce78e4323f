import { embed, query } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { unlinkDeletedCards } from './risks.cards.ts';
import {
  MitigationTask,
  Occurrence,
  type OccurrenceRow,
  RISKS_TOPIC,
  Risk,
  RiskCard,
  type RiskCardRow,
  type RiskRow,
  type TaskRow,
} from './risks.model.ts';
import { occurrenceEvent, riskCardEvent, riskEvent, taskEvent } from './risks.store.ts';
import { mitigationsDueJob } from './tasks.store.ts';

const cardsOf = (risk: string) =>
  `array(select k.card_id from risk_cards k where k.risk_id = ${risk} order by k.id) as "cardIds"`;

/** Removes deleted users as owners of risks, tasks and open occurrences; completed occurrences retain them. */
async function disownRisks(work: Work, userIds: readonly string[]): Promise<void> {
  const { sql } = work;
  const risks = await query(sql).rows<Disowned<RiskRow>>`update risks r
    set owner_id = null, updated_at = clock_timestamp() where r.owner_id = any(${userIds}::uuid[])
     returning to_jsonb(old) as before, to_jsonb(new) as after, ${embed(cardsOf('new.id'))}`;
  for (const { before, after, cardIds } of risks) work.emit(riskEvent(before, after, cardIds));
  const tasks = await query(sql).rows<Disowned<TaskRow>>`update risk_mitigation_tasks t
    set owner_id = null, updated_at = clock_timestamp()
     where t.owner_id = any(${userIds}::uuid[])
     returning to_jsonb(old) as before, to_jsonb(new) as after, ${embed(cardsOf('new.risk_id'))}`;
  for (const { before, after, cardIds } of tasks) work.emit(taskEvent(before, after, cardIds));
  const occurrences = await query(sql).rows<
    Disowned<OccurrenceRow> & { task: TaskRow }
  >`update risk_mitigation_occurrences o set assigned_owner_id = null, updated_at = clock_timestamp()
     from risk_mitigation_tasks t
     where t.id = o.task_id and o.status in ('scheduled', 'open')
     and o.assigned_owner_id = any(${userIds}::uuid[])
     returning to_jsonb(old) as before, to_jsonb(new) as after, to_jsonb(t) as task,
     ${embed(cardsOf('t.risk_id'))}`;
  for (const { before, after, cardIds, task } of occurrences) {
    work.emit(occurrenceEvent(task, before, after, cardIds));
  }
}

interface Disowned<R> {
  before: R;
  after: R;
  cardIds: string[];
}

const undo = { right: needs('risks.manage') };
const topics = [RISKS_TOPIC];

const resources: readonly Resource[] = [
  {
    model: Risk,
    name: 'risk',
    events: rowEvents('risk'),
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
          event: ({ id }, type, row) =>
            riskCardEvent({ id, type: type.key }, undefined, row as RiskCardRow, null),
        },
      },
    ],
    transfer: { matches: [['%.risk_id', '%.card_id']] },
    asOf: true,
  },
  {
    model: MitigationTask,
    name: 'mitigation task',
    events: rowEvents('risk_mitigation_task'),
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
    const ids = users.map(({ id }) => id);
    await disownRisks(work, ids);
  },
};
