import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call, listCards } from '#client';
import { CardFinder } from '../../kit/finders.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import styles from './explorer.module.css';

/** Cards of one list. */
const SHOWN = 6;

/** Where to begin: a search, the cards that changed last, and those with most relations. */
export function ExplorerStart({ onCenter, onAll }: { onCenter(id: string): void; onAll(): void }) {
  const t = useTexts();
  return (
    <div className={styles.start}>
      <h2>{t('explorer.emptyTitle')}</h2>
      <p>{t('explorer.empty')}</p>
      <CardFinder
        label={t('explorer.choose')}
        placeholder={t('explorer.choose')}
        types={[]}
        onPick={({ id }) => onCenter(id)}
      />
      <div className={styles.startLists}>
        <Cards title="explorer.connectedMost" sort="relations" onCenter={onCenter} />
        <Cards title="explorer.recent" sort="updated_at" onCenter={onCenter} />
      </div>
      <Button variant="default" onClick={onAll} leftSection={<Icon name="hub" />}>
        {t('explorer.showAll')}
      </Button>
    </div>
  );
}

interface CardsProps {
  title: MessageKey;
  sort: string;
  onCenter(id: string): void;
}

function Cards({ title, sort, onCenter }: CardsProps) {
  const t = useTexts();
  const { data } = useQuery({
    queryKey: ['cards', 'start', sort],
    queryFn: ({ signal }) =>
      call(
        listCards({
          signal,
          query: { sort_by: sort, sort_dir: 'desc', page_size: SHOWN, fields: 'id,type,name' },
        }),
      ),
  });
  if (!data?.items.length) return null;
  return (
    <section>
      <h3 className={styles.group}>{t(title)}</h3>
      <ul className={styles.list}>
        {data.items.map(({ id, type, name }) => (
          <li key={id}>
            <button type="button" onClick={() => onCenter(id!)}>
              <TypeMark type={type!} size={18} />
              {name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
