import { useQuery } from '@tanstack/react-query';
import { call, listPublicWebPortalCards, listWebhooks, listWebPortals } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useCard } from './context.tsx';
import styles from './tabs.module.css';

/** Who sees the card besides those with a right to the inventory: its people, published portals, and webhooks. */
export function AudiencePanel() {
  const t = useTexts();
  const { card, overview } = useCard();
  const may = (permission: string) => Boolean(overview.permissions?.app_level?.[permission]);
  const { data: portals } = useQuery({
    queryKey: ['card', card.id, 'portals'],
    queryFn: async ({ signal }) => {
      const query = { card_type: card.type, is_published: true, page_size: 50 };
      const { items } = await call(listWebPortals({ signal, query }));
      const shown = await Promise.all(
        items.map(async (portal) => {
          const found = await call(
            listPublicWebPortalCards({
              signal,
              path: { slug: portal.slug! },
              query: { search: card.name, page_size: 100 },
            }),
          );
          return found.items.some(({ id }) => id === card.id) ? [portal] : [];
        }),
      );
      return shown.flat();
    },
    enabled: may('web_portals.view') || may('web_portals.manage'),
  });
  const { data: webhooks } = useQuery({
    queryKey: ['card', card.id, 'webhooks', card.type],
    queryFn: async ({ signal }) => {
      const { items } = await call(listWebhooks({ signal, query: { page_size: 200 } }));
      return items.filter(
        ({ status, card_types, event_types }) =>
          status === 'active' &&
          (!card_types?.length || card_types.includes(card.type)) &&
          (!event_types?.length || event_types.some((type) => type.startsWith('card'))),
      );
    },
    enabled: may('admin.settings'),
  });
  const people = new Set(card.stakeholders?.map(({ user_id }) => user_id)).size;
  return (
    <section className={styles.box} aria-label={t('audience.title')}>
      <h2 className={styles.heading}>{t('audience.title')}</h2>
      <ul className={styles.list}>
        <li className={styles.item}>
          <Icon name="group" size={18} />
          <div className={styles.itemText}>
            <span>{t('audience.roles')}</span>
            <span className="secondary">{t('audience.people', { count: people })}</span>
          </div>
        </li>
        {portals?.map(({ id, name, slug }) => (
          <li key={id} className={styles.item}>
            <Icon name="public" size={18} />
            <div className={styles.itemText}>
              <a href={`/portal/${slug}`} target="_blank" rel="noreferrer" className={styles.link}>
                {name}
              </a>
              <span className="secondary">{t('audience.portal')}</span>
            </div>
          </li>
        ))}
        {webhooks?.map(({ id, name, url }) => (
          <li key={id} className={styles.item}>
            <Icon name="webhook" size={18} />
            <div className={styles.itemText}>
              <span>{name}</span>
              <span className="secondary">{t('audience.webhook', { host: new URL(url!).host })}</span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
