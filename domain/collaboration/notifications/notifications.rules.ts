import type { FeedRow } from '../../kernel/events/feed.read.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { APPROVAL_TOPIC, RISK_TOPIC, TASK_TOPIC } from '../todos/todos.topics.ts';
import {
  changesOf,
  excerpt,
  type Facts,
  listOf,
  type NotificationRule,
  newValue,
} from './notifications.rule.ts';
import { signatureRules } from './notifications.signatures.ts';
import type { NotificationType } from './notifications.types.ts';

const name = ({ card }: Facts): string => card?.name ?? 'A card';

/** Computed fields. */
const derived = new Set(['data_quality', 'archived_at', 'archive_batch_id', 'updated_at']);
const fieldNames: Record<string, string> = { parent_id: 'parent', approval_status: 'approval' };

/** The labels of the changed fields, without costs and computed fields. */
function changedFields({ event, changes, card }: Facts): string {
  const hidden = new Set(event.cost_keys ?? []);
  const labels = new Set<string>();
  for (const key of Object.keys(changes)) {
    if (hidden.has(key) || derived.has(key)) continue;
    const [group, field] = key.split('.');
    if (group === 'attributes') labels.add(card?.type.fields.get(field!)?.label ?? field!);
    else labels.add(fieldNames[group!] ?? group!.replaceAll('_', ' '));
  }
  const all = [...labels];
  if (all.length === 0) return 'it';
  if (all.length > 4) return `${all.slice(0, 3).join(', ')} and ${all.length - 3} more`;
  return all.length === 1 ? all[0]! : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}

const ofCard = (verb: string, type: NotificationType = 'card_updated'): NotificationRule => ({
  type,
  to: 'followers',
  title: (facts) => `${name(facts)} was ${verb}`,
  message: (facts) => `${facts.actor} has ${verb} it.`,
  many: (count) => `${count} cards you follow were ${verb}`,
});

const cardUpdated: NotificationRule = {
  ...ofCard('changed'),
  when: (event) => Object.keys(changesOf(event)).some((field) => !derived.has(field)),
  message: (facts) => `${facts.actor} has changed ${changedFields(facts)}.`,
};

const ofComment = {
  permission: 'comments.view',
  message: ({ actor, changes }: Facts) => `${actor}: ${excerpt(changes.content?.new)}`,
} as const;

const mentioned: NotificationRule = {
  ...ofComment,
  type: 'mentioned',
  // only users whom this write mentioned first
  to: (event) => listOf(event.data.mentions),
  title: (facts) => `You were mentioned on ${name(facts)}`,
  many: (count) => `You were mentioned in ${count} comments`,
};

const commentAdded: NotificationRule = {
  ...ofComment,
  type: 'comment_added',
  to: 'followers',
  title: (facts) => `New comment on ${name(facts)}`,
  many: (count) => `${count} cards you follow have new comments`,
};

/** Whether a to-do was created by the service, or by a recurrence of another user. */
function byOthersRule(event: FeedRow): boolean {
  return event.data.is_system === true || (isNew(event) && newValue(event, 'created_by') !== event.user_id);
}
const isNew = (event: FeedRow): boolean => event.event_type.endsWith('.created');

const todoAssigned: NotificationRule = {
  type: 'todo_assigned',
  to: (event) => [event.data.assigned_to],
  when: (event) => {
    const { assigned_to: assigned, status, topic } = changesOf(event);
    // the assignee of a task gets `task_assigned`
    if (topic?.new === TASK_TOPIC) return false;
    // these topics have notifications of their own
    if (
      topic?.new === APPROVAL_TOPIC ||
      topic?.new === RISK_TOPIC ||
      String(topic?.new).endsWith('_signature')
    )
      return false;
    // recurring to-dos are notified when they open
    if (isNew(event) && status?.new === 'scheduled' && byOthersRule(event)) return false;
    return Boolean(assigned?.new) || (status?.old === 'scheduled' && status.new === 'open');
  },
  toActor: byOthersRule,
  title: () => 'A to-do was assigned to you',
  message: ({ actor, event, card, date }) => {
    const { description, due_date: due } = event.data;
    const on = [card?.name, typeof due === 'string' && `due on ${date(due)}`].filter(Boolean).join(', ');
    return `${actor}: ${excerpt(description)}${on && ` (${on})`}`;
  },
  many: (count) => `${count} to-dos were assigned to you`,
  link: () => '/todos',
};

/** Sent with the to-do, not with the submission, so that later approvers are notified, too. */
const approvalRequested: NotificationRule = {
  ...todoAssigned,
  type: 'process_flow_approval_requested',
  when: (event) => newValue(event, 'topic') === APPROVAL_TOPIC && newValue(event, 'status') === 'open',
  title: (facts) => `You are asked to approve the flow of ${name(facts)}`,
  message: ({ actor, event }) => `${actor}: ${excerpt(event.data.description)}`,
  many: (count) => `You are asked to approve ${count} flows of processes`,
  link: undefined,
};

const taskAssigned: NotificationRule = {
  type: 'task_assigned',
  permission: 'ppm.view',
  to: (event) => [event.data.assignee_id],
  when: (event) => Boolean(newValue(event, 'assignee_id')),
  title: (facts) => `A task of ${name(facts)} was assigned to you`,
  message: ({ actor, event, date }) => {
    const { title, due_date: due } = event.data;
    return `${actor}: ${excerpt(title)}${typeof due === 'string' ? ` (due on ${date(due)})` : ''}`;
  },
  many: (count) => `${count} tasks were assigned to you`,
};

const riskName = ({ event }: Facts): string =>
  `${excerpt(event.data.reference)}, ${excerpt(event.data.title)}`;
const riskLinkOf = ({ event }: Facts): string => String(event.data.link);

const riskAssigned: NotificationRule = {
  type: 'risk_assigned',
  permission: 'risks.view',
  to: (event) => [newValue(event, 'owner_id')],
  title: () => 'A risk was assigned to you',
  message: (facts) => `${facts.actor}: ${riskName(facts)}`,
  many: (count) => `${count} risks were assigned to you`,
  link: riskLinkOf,
};

const riskMoved: NotificationRule = {
  type: 'risk_status_changed',
  permission: 'risks.view',
  to: ({ data }) => [data.owner_id, data.created_by],
  when: (event) => changesOf(event).status !== undefined,
  title: (facts) => `The risk ${riskName(facts)} has changed`,
  message: ({ actor, changes }) =>
    `${actor}: ${inWords(changes.status?.old)} → ${inWords(changes.status?.new)}`,
  many: (count) => `${count} risks have changed`,
  link: riskLinkOf,
};
const inWords = (status: unknown): string => String(status).replaceAll('_', ' ');

const extractionFailed: NotificationRule = {
  type: 'extraction_failed',
  to: (event) => listOf(event.data.recipients),
  // the schedule has acted, even where its owner has asked for the run
  toActor: () => true,
  title: ({ event }) =>
    event.data.paused
      ? `The extraction ${excerpt(event.data.name)} is paused`
      : `The extraction ${excerpt(event.data.name)} has failed`,
  message: ({ event }) => excerpt(event.data.reason),
  many: (count) => `${count} scheduled extractions have failed`,
  // where saved reports are scheduled; other extractions have no page
  link: ({ event }) => (event.data.saved_report_id ? '/reports?tab=saved' : null),
};

const channelPaused: NotificationRule = {
  type: 'channel_paused',
  to: (event) => [event.recipient_id],
  toActor: () => true,
  title: ({ event }) => `The channel ${excerpt(event.data.name)} is paused`,
  message: ({ event }) => excerpt(event.data.reason),
  many: (count) => `${count} channels are paused`,
  link: () => null,
};

const extractionRecovered: NotificationRule = {
  ...extractionFailed,
  title: ({ event }) => `The extraction ${excerpt(event.data.name)} works again`,
  message: () => 'Its last run has succeeded.',
  many: (count) => `${count} scheduled extractions work again`,
};

/** The result of a job of a migration. */
const migrationEnded = (became: string, message: (facts: Facts) => string): NotificationRule => ({
  type: 'migration_ended',
  permission: 'admin.migrate',
  to: (event) => listOf(event.data.recipients),
  // the job has acted, long after it was asked for
  toActor: () => true,
  title: ({ event }) => `The migration ${excerpt(event.data.name)} ${became}`,
  message,
  many: (count) => `${count} jobs of migrations have ended`,
  link: () => null,
});

/** The name of a mapping: card type and remote table. */
const mappingName = ({ event }: Facts): string =>
  `${excerpt(event.data.card_type_key)} with ${excerpt(event.data.remote_table)}`;

const itsmAlerts: Record<string, string> = {
  failed: 'has failed',
  stopped: 'was stopped',
  review: 'waits for a decision',
  questions: 'has open questions',
};

const itsmAlerted: NotificationRule = {
  type: 'itsm_attention',
  permission: 'itsm_sync.view',
  to: (event) => listOf(event.data.recipients),
  // the synchronisation has acted, even where its owner has asked for the run
  toActor: () => true,
  title: (facts) =>
    `The synchronisation of ${mappingName(facts)} ${itsmAlerts[String(facts.event.data.kind)] ?? 'needs a look'}`,
  message: ({ event }) => excerpt(event.data.reason),
  many: (count) => `${count} synchronisations need a look`,
  link: () => null,
};

const itsmRecovered: NotificationRule = {
  ...itsmAlerted,
  title: (facts) => `The synchronisation of ${mappingName(facts)} works again`,
  message: () => 'Its last run has succeeded, and nothing waits for a decision.',
  many: (count) => `${count} synchronisations work again`,
};

const itsmPaused: NotificationRule = {
  ...itsmAlerted,
  title: ({ event }) => `The connection ${excerpt(event.data.name)} is paused`,
  message: ({ event }) => excerpt(newValue(event, 'paused_reason')),
  many: (count) => `${count} connections are paused`,
};

const itsmDrifted: NotificationRule = {
  ...itsmAlerted,
  title: (facts) => `The table of the synchronisation of ${mappingName(facts)} has changed`,
  many: (count) => `The tables of ${count} synchronisations have changed`,
};

const removalAnnounced: NotificationRule = {
  type: 'deprecation_announced',
  to: (event) => [event.recipient_id],
  // the announcement concerns what the actor owns, too
  toActor: () => true,
  title: ({ event, date }) =>
    `${excerpt(event.data.label)} will be removed on ${date(String(event.data.removal))}`,
  message: ({ event: { data } }) => {
    const named = listOf(data.consumers) as { kind: string; name: string }[];
    const uses = named.map(({ kind, name: called }) => `${inWords(kind)} "${excerpt(called)}"`);
    const more = Number(data.consumer_count) - uses.length;
    if (more > 0) uses.push(`${more} more`);
    const successor = data.successor ? ` Use ${excerpt(data.successor)} instead.` : '';
    const note = data.note ? ` ${excerpt(data.note)}` : '';
    return `What you own uses it: ${uses.join(', ')}.${successor}${note}`;
  },
  many: (count) => `${count} parts of the metamodel that you use will be removed`,
  link: () => null,
};

const removalNear: NotificationRule = {
  ...removalAnnounced,
  title: ({ event, date }) =>
    `${excerpt(event.data.label)} will be removed soon, on ${date(String(event.data.removal))}`,
};

/** A decision about a version of a process flow, for the recipients of its event. */
const ofFlow = (type: NotificationType, asked: string, done: string): NotificationRule => ({
  type,
  to: (event) => listOf(event.data.recipients),
  title: (facts) => `${asked} the flow of ${name(facts)}`,
  message: ({ actor, event, changes }) => {
    const reason = changes.rejection_reason?.new;
    return `${actor} has ${done} revision ${event.data.revision}${reason ? `: ${excerpt(reason)}` : '.'}`;
  },
  many: (count) => `${count} flows of processes were ${done}`,
});

const surveyAsked: NotificationRule = {
  type: 'survey_request',
  to: (event) => listOf(event.data.recipients),
  title: () => 'You are asked to answer a survey',
  message: ({ actor, event }) => `${actor}: ${excerpt(event.data.name)}`,
  many: (count) => `You are asked to answer ${count} surveys`,
  link: () => '/surveys',
};

/**
 * The rules by event type. For each user the first matching rule of an event applies.
 */
export const notificationRules: Record<string, NotificationRule[]> = {
  ...signatureRules,
  'card.updated': [cardUpdated],
  'card.archived': [ofCard('archived')],
  'card.restored': [ofCard('restored')],
  'card.approval_status.approve': [ofCard('approved', 'approval_status_changed')],
  'card.approval_status.reject': [ofCard('rejected', 'approval_status_changed')],
  'card.approval_status.reset': [ofCard('reset to draft', 'approval_status_changed')],
  'comment.created': [mentioned, commentAdded],
  'comment.updated': [mentioned],
  'todo.created': [approvalRequested, todoAssigned],
  'todo.updated': [todoAssigned],
  'ppm_task.created': [taskAssigned],
  'ppm_task.updated': [taskAssigned],
  'risk.created': [riskAssigned],
  'risk.updated': [riskAssigned, riskMoved],
  'deprecation.announced': [removalAnnounced],
  'deprecation.reminded': [removalNear],
  'channel.paused': [channelPaused],
  'extraction_run.failed': [extractionFailed],
  'extraction_run.succeeded': [extractionRecovered],
  'migration.previewed': [
    migrationEnded('can be looked at', () => 'Its file was read, and nothing is written yet.'),
  ],
  'migration.applied': [
    migrationEnded('was applied', ({ event }) => {
      const { total, applied, failed } = event.data.counts as Record<string, number>;
      return `${applied} of ${total} records were written, ${failed} could not be.`;
    }),
  ],
  'migration.failed': [migrationEnded('has failed', ({ event }) => excerpt(event.data.reason))],
  'itsm_connection.paused': [itsmPaused],
  'itsm_mapping.alerted': [itsmAlerted],
  'itsm_mapping.drifted': [itsmDrifted],
  'itsm_mapping.recovered': [itsmRecovered],
  'process_flow.approved': [
    {
      ...ofFlow('process_flow_approved', 'Approved:', 'approved'),
      when: (event) => newValue(event, 'status') === 'published',
    },
  ],
  'process_flow.rejected': [
    {
      ...ofFlow('process_flow_rejected', 'Rejected:', 'rejected'),
      when: (event) => newValue(event, 'status') === 'draft',
    },
  ],
  // the undo of the event closes the survey requests
  'survey.sent': [{ ...surveyAsked, when: (event) => newValue(event, 'status') !== 'draft' }],
  'survey.reminded': [
    {
      ...surveyAsked,
      title: () => 'A survey waits for your answer',
      many: (count) => `${count} surveys wait for your answer`,
    },
  ],
};

/** The types of notifications of which every rule needs a permission that the reader does not have. */
export function hiddenTypes(holds: (permission: AppPermission) => boolean): NotificationType[] {
  const byType = Map.groupBy(Object.values(notificationRules).flat(), ({ type }) => type);
  return [...byType].flatMap(([type, rules]) =>
    rules.every(({ permission }) => permission !== undefined && !holds(permission)) ? [type] : [],
  );
}
