import { ActionIcon, Button, Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Icon } from '../kit/Icon.tsx';
import { useTexts } from '../kit/messages.tsx';
import styles from './layout.module.css';

const CardPanel = lazy(async () => {
  const { CardPanel: panel } = await import('../features/card/CardPanel.tsx');
  return { default: panel };
});

/** Pages that show the chosen card in a panel of their own. */
const WITH_OWN = ['/map', '/explorer'];

/** The card that the address names as `peek`, beside the list, which keeps its place. */
export function PeekPanel() {
  const t = useTexts();
  const { peek } = useSearch({ strict: false }) as { peek?: string };
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const isNarrow = useMediaQuery('(max-width: 1199px)', window.innerWidth < 1200);
  const close = () =>
    void navigate({
      to: '.',
      search: ((before: Record<string, unknown>) => ({ ...before, peek: undefined })) as never,
      replace: true,
    });
  if (!peek || WITH_OWN.includes(pathname)) return null;
  const body = (
    <>
      <header className={styles.peekHead}>
        <Button
          component={Link}
          to="/cards/$id"
          params={{ id: peek } as never}
          variant="default"
          size="compact-sm"
        >
          {t('peek.open')}
        </Button>
        <ActionIcon aria-label={t('action.close')} onClick={close} ml="auto">
          <Icon name="close" />
        </ActionIcon>
      </header>
      <Suspense>
        <CardPanel key={peek} id={peek} />
      </Suspense>
    </>
  );
  return isNarrow ? (
    <Drawer
      opened
      onClose={close}
      position="right"
      size={340}
      padding={0}
      withCloseButton={false}
      title={t('peek.title')}
    >
      {body}
    </Drawer>
  ) : (
    <Beside title={t('peek.title')} onClose={close}>
      {body}
    </Beside>
  );
}

function Beside({ title, onClose, children }: { title: string; onClose(): void; children: ReactNode }) {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isInField = (event.target as HTMLElement).closest('input, textarea, [role=dialog], [role=menu]');
      if (event.key === 'Escape' && !event.defaultPrevented && !isInField) onClose();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  });
  return (
    <aside className={styles.peek} aria-label={title}>
      {children}
    </aside>
  );
}
