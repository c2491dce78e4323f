import { Link } from '@tanstack/react-router';
import type { CardOverview } from '#client';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import styles from './card.module.css';

/** The related cards by relation type, and the cards below this one. */
export function RelationsPanel({ overview: { relations, hierarchy, card } }: { overview: CardOverview }) {
  const t = useTexts();
  const { type: typeOf, label } = useMetamodel();
  const total = (relations ?? []).reduce((sum, { count }) => sum + count, 0);
  const children = hierarchy?.children ?? [];
  return (
    <section className={styles.panel}>
      <h2>
        {t('card.relations')} <span className="secondary">{total}</span>
      </h2>
      {total === 0 && children.length === 0 && <p className="secondary">{t('card.noRelations')}</p>}
      <div className={styles.relations}>
        {children.length > 0 && (
          <div className={styles.group}>
            <h3>
              <TypeMark type={card.type} size={18} /> {t('card.children')}
              <span className="secondary">{hierarchy?.children_total}</span>
            </h3>
            <div className={styles.chips}>
              {children.map((child) => (
                <Link key={child.id} to="/cards/$id" params={{ id: child.id }} className={styles.chip}>
                  {child.name}
                </Link>
              ))}
            </div>
          </div>
        )}
        {(relations ?? []).map(({ relation_type_key: key, direction, label: verb, count, items }) => {
          const other = items[0]?.card.type;
          const type = other ? typeOf(other) : undefined;
          return (
            <div key={`${key} ${direction}`} className={styles.group}>
              <h3>
                {other && <TypeMark type={other} size={18} />}
                {type ? label(type) : verb}
                <span className="secondary">
                  {verb} · {count}
                </span>
              </h3>
              <div className={styles.chips}>
                {items.map(({ relation_id, card: related }) => (
                  <Link key={relation_id} to="/cards/$id" params={{ id: related.id }} className={styles.chip}>
                    {related.name}
                  </Link>
                ))}
                {count > items.length && (
                  <span className="secondary">{t('facets.more', { count: count - items.length })}</span>
                )}
              </div>
            </div>
          );
        })}
      </div>
    </section>
  );
}
