import { Burger, Button, Drawer } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { DisplayProvider } from '../kit/display.tsx';
import { useIsDrawn } from '../kit/Later.tsx';
import { nearestLanguage, useLanguage, useTexts } from '../kit/messages.tsx';
import { MetamodelProvider } from '../kit/metamodel.tsx';
import { useUnread } from './Bell.tsx';
import { useFocusOnHeading } from './focus.ts';
import { stopImpersonation } from './impersonation.ts';
import styles from './layout.module.css';
import { useLiveUpdates } from './live.ts';
import { Palette, usePalette } from './Palette.tsx';
import { PeekPanel } from './PeekPanel.tsx';
import { useBootstrap, useMe } from './queries.ts';
import { Shortcuts } from './Shortcuts.tsx';
import { Sidebar } from './Sidebar.tsx';
import { useSession } from './session.ts';

/** The frame of every page behind the login: navigation at the left, the page beside it. */
export function AppLayout() {
  const { t, setLanguage } = useLanguage();
  const { locale, impersonated_role_label } = useMe();
  const { languages } = useBootstrap();
  const isNarrow = useMediaQuery('(max-width: 899px)', window.innerWidth < 900);
  const [isOpen, { close, toggle }] = useDisclosure(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const palette = usePalette();
  const isDrawn = useIsDrawn();
  useFocusOnHeading(path);
  useSession();
  useLiveUpdates();
  useEffect(() => setLanguage(nearestLanguage(locale, languages)), [locale, languages, setLanguage]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes when the page changes
  useEffect(close, [path]);
  return (
    <DisplayProvider>
      <MetamodelProvider>
        <a className={styles.skip} href="#content">
          {t('nav.skip')}
        </a>
        <div className={styles.frame}>
          {isNarrow ? (
            <Drawer opened={isOpen} onClose={close} size={260} padding={0} withCloseButton={false}>
              <Sidebar onSearch={palette.open} />
            </Drawer>
          ) : (
            <Sidebar onSearch={palette.open} />
          )}
          <div className={styles.content} id="content">
            {impersonated_role_label && (
              <div className={styles.banner}>
                {t('session.impersonating', { role: impersonated_role_label })}
                <Button size="compact-xs" variant="default" onClick={stopImpersonation}>
                  {t('session.stop')}
                </Button>
              </div>
            )}
            {isNarrow && <MenuButton isOpen={isOpen} onClick={toggle} />}
            <Outlet />
          </div>
          <PeekPanel />
        </div>
        {isDrawn && (
          <>
            <Palette isOpen={palette.isOpen} early={palette.early} onClose={palette.close} />
            <Shortcuts onSearch={palette.open} />
          </>
        )}
      </MetamodelProvider>
    </DisplayProvider>
  );
}

/** Opens the navigation where there is no room for it; a dot says that something is new. */
function MenuButton({ isOpen, onClick }: { isOpen: boolean; onClick(): void }) {
  const t = useTexts();
  const unread = useUnread();
  const label = unread > 0 ? `${t('nav.menu')}, ${t('bell.label', { count: unread })}` : t('nav.menu');
  return (
    <div className={styles.burger}>
      <Burger opened={isOpen} onClick={onClick} size="sm" aria-label={label} />
      {unread > 0 && <span className={styles.burgerDot} aria-hidden="true" />}
    </div>
  );
}
