import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, readCardOverview } from '#client';
import { FieldValue } from '../../kit/FieldValue.tsx';
import { useFormat } from '../../kit/format.ts';
import { LifecycleBar } from '../../kit/LifecycleBar.tsx';
import { type Lifecycle, phaseOn, today } from '../../kit/lifecycle.ts';
import { ApprovalMark, Avatar, TagMark, ToneMark, TypeMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import styles from './panel.module.css';

/** Related cards of one kind that are named. */
const NAMED = 5;

const isFilled = (value: unknown) => value !== undefined && value !== null && value !== '';

/** A card beside a list: what it is, its filled fields, its relations and people. */
export function CardPanel({ id }: { id: string }) {
  const t = useTexts();
  const format = useFormat();
  const { type: typeOf, sections, label } = useMetamodel();
  const { data, error } = useQuery({
    queryKey: ['card', id, 'panel'],
    queryFn: ({ signal }) =>
      call(
        readCardOverview({
          signal,
          path: { id },
          query: { include: 'hierarchy,relations', relations: NAMED },
        }),
      ),
  });
  if (error) return <p className={styles.note}>{error.message}</p>;
  if (!data) return <div aria-busy="true" />;
  const { card, hierarchy, relations } = data;
  const type = typeOf(card.type);
  const lifecycle = card.lifecycle as Lifecycle | null;
  const phase = phaseOn(lifecycle, today());
  const fields = sections(card.type)
    .flatMap((section) => section.fields)
    .filter(({ key }) => isFilled(card.attributes[key]));
  const people = new Map(card.stakeholders?.map((one) => [one.user_id, one.user_display_name ?? '?']));
  return (
    <article className={styles.panel}>
      <header className={styles.header}>
        <TypeMark type={card.type} size={32} />
        <div>
          <p className="secondary">
            {[type && label(type), ...(hierarchy?.ancestors.map(({ name }) => name) ?? [])].join(' / ')}
          </p>
          <h2>{card.name}</h2>
        </div>
      </header>
      <p className={styles.marks}>
        <ApprovalMark status={card.approval_status} />
        {phase && <ToneMark tone="neutral">{t(`phase.${phase}` as MessageKey)}</ToneMark>}
        {card.status === 'ARCHIVED' && <ToneMark tone="warn">{t('card.archived')}</ToneMark>}
        {card.tags?.map((tag) => (
          <TagMark key={tag.id} name={tag.name} color={tag.color} />
        ))}
      </p>
      {card.description && <p>{card.description}</p>}
      <dl className={styles.fields}>
        <dt>{t('field.quality')}</dt>
        <dd>{format.percent(card.data_quality)}</dd>
        {lifecycle && (
          <>
            <dt>{t('field.lifecycle')}</dt>
            <dd>
              <LifecycleBar lifecycle={lifecycle} />
            </dd>
          </>
        )}
        {fields.map((field) => (
          <div key={field.key} className={styles.pair}>
            <dt>{label(field)}</dt>
            <dd>
              <FieldValue field={field} value={card.attributes[field.key]} />
            </dd>
          </div>
        ))}
        {people.size > 0 && (
          <>
            <dt>{t('field.people')}</dt>
            <dd className={styles.people}>
              {[...people].map(([user, name]) => (
                <span key={user}>
                  <Avatar name={name} size={20} /> {name}
                </span>
              ))}
            </dd>
          </>
        )}
      </dl>
      {relations?.map(({ relation_type_key: key, direction, label: verb, count, items }) => (
        <section key={`${key} ${direction}`} className={styles.relations}>
          <h3>
            {verb} <span className="secondary">{count}</span>
          </h3>
          <ul>
            {items.map(({ relation_id, card: related }) => (
              <li key={relation_id}>
                <TypeMark type={related.type} size={18} />
                <Link to="/cards/$id" params={{ id: related.id }}>
                  {related.name}
                </Link>
              </li>
            ))}
            {count > items.length && (
              <li className="secondary">{t('facets.more', { count: count - items.length })}</li>
            )}
          </ul>
        </section>
      ))}
    </article>
  );
}
