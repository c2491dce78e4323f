import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useBootstrap } from '../../shell/queries.ts';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { RestoreDialog } from './RestoreDialog.tsx';

/** What everybody must know before reading the card: that it is archived, or shows the past. */
export function Banners() {
  const { card, asOf } = useCard();
  return (
    <>
      {asOf && <PastBanner day={asOf} />}
      {card.status === 'ARCHIVED' && <ArchivedBanner />}
    </>
  );
}

function PastBanner({ day }: { day: string }) {
  const t = useTexts();
  const format = useFormat();
  const navigate = useNavigate({ from: '/cards/$id' });
  return (
    <div className={styles.banner} data-tone="info" role="status">
      <Icon name="history" />
      {t('card.pastBanner', { date: format.date(day) })}
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => void navigate({ search: (before) => ({ ...before, asOf: undefined }) })}
      >
        {t('card.backToToday')}
      </Button>
    </div>
  );
}

const DAY = 86_400_000;

function ArchivedBanner() {
  const t = useTexts();
  const { archive_retention_days: kept } = useBootstrap();
  const { card, can } = useCard();
  const [isOpen, setOpen] = useState(false);
  const age = card.archived_at ? (Date.now() - Date.parse(card.archived_at)) / DAY : 0;
  const text =
    kept > 0
      ? t('card.archivedBanner', { days: Math.max(0, Math.ceil(kept - age)) })
      : t('card.archivedKept');
  return (
    <div className={styles.banner} data-tone="warn" role="status">
      <Icon name="inventory_2" />
      {text}
      {can('archive') && (
        <Button size="compact-xs" variant="default" onClick={() => setOpen(true)}>
          {t('card.restore')}
        </Button>
      )}
      {isOpen && <RestoreDialog onClose={() => setOpen(false)} />}
    </div>
  );
}
