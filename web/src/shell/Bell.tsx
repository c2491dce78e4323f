import { Popover } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { unreadQuery } from '../features/notifications/notifications.queries.ts';
import { Icon } from '../kit/Icon.tsx';
import { useTexts } from '../kit/messages.tsx';
import styles from './layout.module.css';
import { isAllowed, useMe } from './queries.ts';

const BellPanel = lazy(async () => ({
  default: (await import('../features/notifications/BellPanel.tsx')).BellPanel,
}));

/** How many notifications the person has not read; 0 without the permission to read them. */
export function useUnread(): number {
  const { permissions } = useMe();
  return useQuery({ ...unreadQuery, enabled: isAllowed(permissions, 'notifications.manage') }).data ?? 0;
}

/** The most that the bell has room for. */
const MOST = 99;

/** The bell: how much is new, and the newest of it. */
export function Bell() {
  const t = useTexts();
  const { permissions } = useMe();
  const unread = useUnread();
  const [isOpen, setOpen] = useState(false);
  if (!isAllowed(permissions, 'notifications.manage')) return null;
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>
        <button
          type="button"
          className={styles.bell}
          aria-label={t('bell.label', { count: unread })}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="notifications" size={18} />
          {unread > 0 && <span className={styles.unread}>{unread > MOST ? `${MOST}+` : unread}</span>}
        </button>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label={t('bell.title')}>
        <Suspense>{isOpen && <BellPanel onClose={() => setOpen(false)} />}</Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
