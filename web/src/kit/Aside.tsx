import { ActionIcon, Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import styles from './aside.module.css';
import { Icon } from './Icon.tsx';
import { useTexts } from './messages.tsx';

interface AsideProps {
  label: string;
  onClose(): void;
  children: ReactNode;
}

/** What belongs to the chosen thing: at the right of the page, or over it where there is little room. */
export function Aside({ label, onClose, children }: AsideProps) {
  const t = useTexts();
  const isNarrow = useMediaQuery('(max-width: 1099px)', window.innerWidth < 1100);
  if (isNarrow)
    return (
      <Drawer
        opened
        onClose={onClose}
        position="right"
        size={340}
        title={label}
        padding="md"
        closeButtonProps={{ 'aria-label': t('action.close') }}
      >
        <div className={styles.body}>{children}</div>
      </Drawer>
    );
  return (
    <aside className={styles.aside} aria-label={label}>
      <ActionIcon className={styles.close!} onClick={onClose} aria-label={t('action.close')}>
        <Icon name="close" />
      </ActionIcon>
      <div className={styles.body}>{children}</div>
    </aside>
  );
}
