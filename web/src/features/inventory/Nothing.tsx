import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTexts } from '../../kit/messages.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import styles from './inventory.module.css';
import type { InventorySearch } from './inventory.search.ts';

interface NothingProps {
  search: InventorySearch;
  onChange(search: InventorySearch): void;
}

/** What stands instead of rows where there are none. */
export function Nothing({ search, onChange }: NothingProps) {
  const t = useTexts();
  const mayCreate = isAllowed(useMe().permissions, 'inventory.create');
  const isFiltered = Boolean(search.filter || search.search || search.mine);
  const text = search.archived ? 'archived' : isFiltered ? 'filtered' : 'empty';
  return (
    <div className={styles.nothing}>
      <h2>{t(`nothing.${text}`)}</h2>
      <p>{t(`nothing.${text}Help`)}</p>
      {isFiltered && (
        <Button
          onClick={() => onChange({ ...search, filter: undefined, search: undefined, mine: undefined })}
        >
          {t('inventory.clear')}
        </Button>
      )}
      {text === 'empty' && mayCreate && (
        <div className={styles.begin}>
          <Button onClick={() => onChange({ ...search, create: true })}>{t('create.title')}</Button>
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link to="/import" search={search.type ? { type: search.type } : {}} {...props} />
            )}
          >
            {t('first.import')}
          </Button>
        </div>
      )}
    </div>
  );
}
