import styles from './changes.module.css';
import { useFormat } from './format.ts';
import { type MessageKey, useTexts } from './messages.tsx';
import { useMetamodel } from './metamodel.tsx';

/** An event of a card, as histories and activity lists contain it. */
export interface ShownEvent {
  event_type: string;
  user_display_name: string | null;
  created_at: string;
  data: { name?: string; changes?: Record<string, { old?: unknown; new?: unknown }> } | null;
}

/** Fields of cards that are no attributes. */
const names: Record<string, MessageKey> = {
  name: 'field.name',
  description: 'field.description',
  subtype: 'field.subtype',
  approval_status: 'field.approval',
  lifecycle: 'field.lifecycle',
  parent_id: 'field.parent',
};

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
};

const SHOWN = 4;

/** What happened to a card: who, what and when, with the old and the new values. */
export function Changes({ event, typeKey }: { event: ShownEvent; typeKey: string }) {
  const t = useTexts();
  const format = useFormat();
  const { field, label } = useMetamodel();
  const verb = verbs[event.event_type];
  const changes = Object.entries(event.data?.changes ?? {}).filter(([key]) => key !== 'approval_status');
  const nameOf = (path: string): string => {
    const known = path.startsWith('attributes.') ? field(typeKey, path.slice(11)) : undefined;
    if (known) return label(known);
    const own = names[path.split('.')[0]!];
    return own ? t(own) : path;
  };
  const textOf = (path: string, value: unknown): string => {
    if (value === null || value === undefined || value === '') return '–';
    const known = path.startsWith('attributes.') ? field(typeKey, path.slice(11)) : undefined;
    const option = known?.options?.find(({ key }) => key === value);
    if (option) return label(option);
    if (typeof value === 'number')
      return known?.type === 'cost' ? format.shortMoney(value) : format.number(value);
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };
  return (
    <div className={styles.event}>
      <div>
        <strong>{event.user_display_name ?? t('activity.service')}</strong>{' '}
        {verb ? t(verb) : event.event_type.replaceAll(/[._]/g, ' ')}
        <span className={styles.when} title={format.time(event.created_at)}>
          {format.ago(event.created_at)}
        </span>
      </div>
      {event.event_type !== 'card.created' && changes.length > 0 && (
        <ul className={styles.changes}>
          {changes.slice(0, SHOWN).map(([path, change]) => (
            <li key={path}>
              <span className="secondary">{nameOf(path)}</span> <s>{textOf(path, change.old)}</s>{' '}
              {textOf(path, change.new)}
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
