import { Menu, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { lazy, useState } from 'react';
import { call, countBadges } from '#client';
import { Icon } from '../kit/Icon.tsx';
import { Later, useIsDrawn } from '../kit/Later.tsx';
import { Avatar } from '../kit/marks.tsx';
import { type MessageKey, useTexts } from '../kit/messages.tsx';
import { Bell } from './Bell.tsx';
import styles from './layout.module.css';
import { isAllowed, useBootstrap, useMe } from './queries.ts';
import { leave } from './session.ts';

const ViewAsRole = lazy(async () => ({ default: (await import('./ViewAsRole.tsx')).ViewAsRole }));

/** An area of the application. */
interface Entry {
  to: LinkProps['to'];
  icon: string;
  text: MessageKey;
  /** One of the permissions that it needs. */
  needs?: string[];
}

const all: Entry[] = [
  { to: '/', icon: 'home', text: 'nav.home' },
  { to: '/inventory', icon: 'table', text: 'nav.inventory' },
  { to: '/map', icon: 'account_tree', text: 'nav.map' },
  { to: '/explorer', icon: 'hub', text: 'nav.explorer' },
  { to: '/reports/$', icon: 'bar_chart', text: 'nav.reports' },
  {
    to: '/import',
    icon: 'upload_file',
    text: 'nav.import',
    needs: ['inventory.create', 'relations.manage'],
  },
];

/** The areas in their order, as far as the role permits them. */
export function useAreas(): Entry[] {
  const { permissions } = useMe();
  return all.filter(({ needs }) => needs?.some((one) => isAllowed(permissions, one)) ?? true);
}

/** The navigation: areas that exist and the role permits. */
export function Sidebar({ onSearch }: { onSearch(): void }) {
  const t = useTexts();
  const { app_title } = useBootstrap();
  const title = app_title || 'Estate';
  const isDrawn = useIsDrawn();
  const { data: badges } = useQuery({
    queryKey: ['badges'],
    queryFn: ({ signal }) => call(countBadges({ signal })),
  });
  const waiting = (badges?.open_todos ?? 0) + (badges?.pending_surveys ?? 0);
  return (
    <nav className={styles.sidebar} aria-label={t('nav.main')}>
      <div className={styles.top}>
        <Link to="/" className={styles.workspace}>
          <span className={styles.logo} aria-hidden="true">
            {title[0]}
          </span>
          <span>{title}</span>
        </Link>
        {isDrawn && <Bell />}
      </div>
      <button type="button" className={styles.search} onClick={onSearch}>
        <Icon name="search" />
        {t('nav.search')}
        <kbd>Ctrl K</kbd>
      </button>
      {useAreas().map(({ to, icon, text }) => (
        <Link
          key={text}
          to={to}
          className={styles.entry}
          activeOptions={{ exact: to === '/', includeSearch: false }}
        >
          <Icon name={icon} size={18} />
          {t(text)}
          {to === '/' && waiting > 0 && <span className={styles.count}>{waiting}</span>}
        </Link>
      ))}
      <div className={styles.foot}>
        <a className={styles.entry} href="/api/docs" target="_blank" rel="noreferrer">
          <Icon name="code" size={18} />
          {t('nav.api')}
        </a>
        <PersonMenu />
      </div>
    </nav>
  );
}

function PersonMenu() {
  const t = useTexts();
  const me = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [isChoosing, setChoosing] = useState(false);
  const mayImpersonate = isAllowed(me.permissions, 'admin.impersonate') && !me.impersonated_role;
  const isDrawn = useIsDrawn();
  const target = (
    <button type="button" className={styles.search} style={{ border: 0, background: 'none' }}>
      <Avatar name={me.display_name} />
      {me.display_name}
    </button>
  );
  if (!isDrawn) return target;
  const button = (
    <Menu width={200} position="top-start">
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{me.email}</Menu.Label>
        <Menu.Item component={Link} to="/me" leftSection={<Icon name="person" />}>
          {t('nav.profile')}
        </Menu.Item>
        <Menu.Item
          closeMenuOnClick={false}
          leftSection={<Icon name={colorScheme === 'dark' ? 'light_mode' : 'dark_mode'} />}
          onClick={() => setColorScheme(colorScheme === 'dark' ? 'light' : 'dark')}
        >
          {t(colorScheme === 'dark' ? 'look.light' : 'look.dark')}
        </Menu.Item>
        {mayImpersonate && (
          <Menu.Item leftSection={<Icon name="visibility" />} onClick={() => setChoosing(true)}>
            {t('session.viewAs')}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<Icon name="logout" />} onClick={leave}>
          {t('session.logout')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
  return (
    <>
      {button}
      <Later isNeeded={isChoosing}>
        <ViewAsRole isOpen={isChoosing} onClose={() => setChoosing(false)} />
      </Later>
    </>
  );
}
