import styles from './changes.module.css';
import { useFormat } from './format.ts';
import { type MessageKey, useTexts } from './messages.tsx';
import { usePaths } from './paths.tsx';

/** An event of a card, as histories and activity lists contain it. */
export interface ShownEvent {
  event_type: string;
  user_display_name: string | null;
  created_at: string;
  data:
    | (Record<string, unknown> & {
        name?: string;
        changes?: Record<string, { old?: unknown; new?: unknown }>;
      })
    | null;
}

/** Kinds of events that have a sentence of their own. */
const verbs: Record<string, MessageKey> = {
  'card.created': 'activity.created',
  'card.updated': 'activity.updated',
  'card.archived': 'activity.archived',
  'card.restored': 'activity.restored',
  'card.approval_status.approve': 'activity.approved',
  'card.approval_status.reject': 'activity.rejected',
  'card.approval_status.reset': 'activity.reset',
  'relation.created': 'activity.related',
  'relation.deleted': 'activity.unrelated',
  'comment.created': 'activity.commented',
  'relation.updated': 'activity.changedRelation',
  'data_flow.created': 'activity.flowAdded',
  'data_flow.updated': 'activity.flowChanged',
  'data_flow.deleted': 'activity.flowRemoved',
  'comment.updated': 'activity.commentChanged',
  'comment.deleted': 'activity.commentRemoved',
  'stakeholder.added': 'activity.personAdded',
  'stakeholder.removed': 'activity.personRemoved',
  'stakeholder.role_changed': 'activity.personChanged',
  'document.added': 'activity.linkAdded',
  'document.removed': 'activity.linkRemoved',
  'file.uploaded': 'activity.fileAdded',
  'file.deleted': 'activity.fileRemoved',
  'tag.added': 'activity.tagAdded',
  'tag.removed': 'activity.tagRemoved',
  'todo.created': 'activity.todoAdded',
  'todo.updated': 'activity.todoChanged',
  'todo.deleted': 'activity.todoRemoved',
  'cost.created': 'activity.costAdded',
  'cost.updated': 'activity.costChanged',
  'cost.deleted': 'activity.costRemoved',
  'risk.added': 'activity.riskLinked',
  'risk.removed': 'activity.riskUnlinked',
  'adr_card.created': 'activity.adrLinked',
  'adr_card.deleted': 'activity.adrUnlinked',
  'diagram.linked': 'activity.diagramLinked',
  'diagram.unlinked': 'activity.diagramUnlinked',
  'card.merged': 'activity.merged',
  'card.unmerged': 'activity.unmerged',
  'card.deleted': 'activity.deleted',
};

const SHOWN = 4;

/** What an event says in words. */
export function useVerb() {
  const t = useTexts();
  return (type: string): string => (verbs[type] ? t(verbs[type]) : type.replaceAll(/[._]/g, ' '));
}

/** What an event is about, if that is not the card itself: the card at the other end, or an attached object. */
export function objectOf({ event_type, data }: ShownEvent, cardId: string | undefined): string | undefined {
  if (!data || event_type.startsWith('card.')) return undefined;
  const other = data.source_id === cardId ? data.target_name : data.source_name;
  const found = [other, data.tag_name, data.user_display_name, data.title, data.name, data.description];
  return found.find((one) => typeof one === 'string' && one !== '') as string | undefined;
}

/** Fields that follow from others, and say nothing to readers of changes. */
export const derivedFields: ReadonlySet<string> = new Set(['approval_status', 'data_quality']);

interface ChangesProps {
  event: ShownEvent;
  typeKey: string;
  /** The card whose history it is. */
  cardId?: string;
}

/** What happened to a card: who, what and when, with the old and the new values. */
export function Changes({ event, typeKey, cardId }: ChangesProps) {
  const t = useTexts();
  const format = useFormat();
  const { labelOf, shownValue } = usePaths(typeKey);
  const verbOf = useVerb();
  const object = objectOf(event, cardId);
  const isCard = event.event_type === 'card.updated';
  const changes = Object.entries((isCard && event.data?.changes) || {}).filter(
    ([key]) => !derivedFields.has(key),
  );
  return (
    <div className={styles.event}>
      <div>
        <strong>{event.user_display_name ?? t('activity.service')}</strong> {verbOf(event.event_type)}
        {object && `: ${object}`}
        <span className={styles.when} title={format.time(event.created_at)}>
          {format.ago(event.created_at)}
        </span>
      </div>
      {changes.length > 0 && (
        <ul className={styles.changes}>
          {changes.slice(0, SHOWN).map(([path, change]) => (
            <li key={path}>
              <span className="secondary">{labelOf(path)}</span> <s>{shownValue(path, change.old)}</s>{' '}
              {shownValue(path, change.new)}
            </li>
          ))}
          {changes.length > SHOWN && (
            <li className="secondary">{t('facets.more', { count: changes.length - SHOWN })}</li>
          )}
        </ul>
      )}
    </div>
  );
}
