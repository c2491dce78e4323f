import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type NavigateOptions, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Icon } from '../kit/Icon.tsx';
import { TypeMark } from '../kit/marks.tsx';
import { type MessageKey, useTexts } from '../kit/messages.tsx';
import { useMetamodel } from '../kit/metamodel.tsx';
import { reports, titleOf } from '../kit/reportCatalogue.ts';
import { type Found, useFound } from './palette.search.ts';
import { isAllowed, useMe } from './queries.ts';
import { useAreas } from './Sidebar.tsx';
import { leave } from './session.ts';

interface Item {
  id: string;
  mark: ReactNode;
  text: string;
  note?: string | undefined;
  go(): void;
}

/** How long nothing is typed before the service is asked, in milliseconds. */
const REST_MS = 30;
/** Reports that are listed at once. */
const REPORTS = 5;

/** What the palette offers for a text, in sections; `>` leads to commands alone, `@` to people. */
export function usePaletteSections(typed: string, onClose: () => void): { title: string; items: Item[] }[] {
  const t = useTexts();
  const navigate = useNavigate();
  const { type, label } = useMetamodel();
  const only = /^[>@]/.exec(typed)?.[0];
  const text = typed.replace(/^[>@]/, '').trim();
  const [search] = useDebouncedValue(text, REST_MS);
  const found = useFound(text === '' || only === '>' ? '' : search, only === '@');
  const commands = useCommands();
  const contains = (name: string) => name.toLowerCase().includes(text.toLowerCase());
  const item = (id: string, icon: string, name: string, to: () => unknown, note?: string): Item => ({
    id,
    mark: <Icon name={icon} size={18} />,
    text: name,
    note,
    go() {
      onClose();
      void to();
    },
  });
  const open = (to: NavigateOptions) => () => navigate(to);
  const cards = found.cards.map(
    ({ id, type: key, name }): Item => ({
      ...item(id, '', name, open({ to: '/cards/$id', params: { id } })),
      mark: <TypeMark type={key} />,
      note: type(key) ? label(type(key)!) : key,
    }),
  );
  const listed = (kind: Found['kind'], icon: string, note: MessageKey) =>
    found.others
      .filter((one) => one.kind === kind)
      .map(({ id, name, to }) => item(id, icon, name, open(to as NavigateOptions), t(note)));
  const named = (text === '' ? [] : reports)
    .map((report) => ({ report, title: titleOf(t, report.name) }))
    .filter(({ title }) => contains(title))
    .slice(0, REPORTS)
    .map(({ report, title }) =>
      item(
        `report-${report.name.replace('/', '-')}`,
        'bar_chart',
        title,
        open({ to: '/reports/$', params: { _splat: report.name }, search: {} } as NavigateOptions),
        t('palette.report'),
      ),
    );
  const pages = useAreas()
    .filter(({ text: name }) => contains(t(name)))
    .map(({ to, icon, text: name }) =>
      item(
        `area-${icon}`,
        icon,
        t(name),
        open({ to, params: { _splat: '' }, search: {} } as NavigateOptions),
      ),
    );
  const all: [MessageKey, Item[], string?][] = [
    ['palette.cards', cards],
    [
      'palette.views',
      [
        ...listed('view', 'bookmark', 'palette.view'),
        ...listed('saved', 'bookmark', 'palette.saved'),
        ...named,
      ],
    ],
    [
      'palette.records',
      [
        ...listed('risk', 'warning', 'palette.risk'),
        ...listed('decision', 'gavel', 'palette.decision'),
        ...listed('diagram', 'schema', 'palette.diagram'),
        ...listed('statement', 'description', 'palette.statement'),
      ],
    ],
    ['palette.people', listed('person', 'person', 'palette.theirCards'), '@'],
    [
      'palette.commands',
      commands
        .filter(({ name }) => contains(name))
        .map(({ key, icon, name, run }) => item(key, icon, name, run)),
      '>',
    ],
    ['palette.areas', pages],
  ];
  return all
    .filter(([, items, sign]) => items.length > 0 && (only === undefined || only === sign))
    .map(([title, items]) => ({ title: t(title), items }));
}

/** What can be done from everywhere. */
function useCommands(): { key: string; icon: string; name: string; run(): unknown }[] {
  const t = useTexts();
  const navigate = useNavigate();
  const { permissions } = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const isDark = colorScheme === 'dark';
  const tab = (key: 'security' | 'tokens' | 'notifications', icon: string, text: MessageKey) => ({
    key: `me-${key}`,
    icon,
    name: t(text),
    run: () => navigate({ to: '/me', search: { tab: key } }),
  });
  return [
    ...(isAllowed(permissions, 'inventory.create')
      ? [
          {
            key: 'create',
            icon: 'add_circle',
            name: t('create.title'),
            run: () => navigate({ to: '/inventory', search: { create: true } }),
          },
        ]
      : []),
    { key: 'query', icon: 'quiz', name: t('query.title'), run: () => navigate({ to: '/query', search: {} }) },
    {
      key: 'look',
      icon: isDark ? 'light_mode' : 'dark_mode',
      name: t(isDark ? 'look.light' : 'look.dark'),
      run: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    { key: 'me', icon: 'person', name: t('nav.profile'), run: () => navigate({ to: '/me' }) },
    tab('security', 'lock', 'account.security'),
    tab('tokens', 'code', 'account.tokens'),
    tab('notifications', 'notifications', 'account.notifications'),
    {
      key: 'logout',
      icon: 'logout',
      name: t('session.logout'),
      run: leave,
    },
  ];
}
