import { useDisclosure } from '@mantine/hooks';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy } from 'react';
import { useKeys } from '../kit/keys.ts';
import { Later } from '../kit/Later.tsx';
import { isAllowed, useMe } from './queries.ts';

const ShortcutList = lazy(async () => ({ default: (await import('./ShortcutList.tsx')).ShortcutList }));

const areas = {
  h: '/',
  i: '/inventory',
  m: '/map',
  e: '/explorer',
  r: '/reports/$',
  n: '/notifications',
  w: '/me',
} as const;
/** How long a second key may follow, in milliseconds. */
const FOLLOW_MS = 1_500;

/** The keys that work on every page: `g` and a letter leads to an area, `?` lists them. */
export function Shortcuts({ onSearch }: { onSearch(): void }) {
  const navigate = useNavigate();
  const [isOpen, { open, close }] = useDisclosure(false);
  const waitForArea = () => {
    const stop = () => document.removeEventListener('keydown', onKeyDown, true);
    const onKeyDown = (event: KeyboardEvent) => {
      stop();
      if (!Object.hasOwn(areas, event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      const to = areas[event.key as keyof typeof areas];
      void navigate({ to, search: {}, params: { _splat: '' } } as never);
    };
    document.addEventListener('keydown', onKeyDown, true);
    window.setTimeout(stop, FOLLOW_MS);
  };
  const isInventory = useRouterState({ select: ({ location }) => location.pathname === '/inventory' });
  const mayCreate = isAllowed(useMe().permissions, 'inventory.create');
  useKeys({
    g: waitForArea,
    '?': open,
    // the inventory has these for itself
    ...(!isInventory && {
      '/': onSearch,
      ...(mayCreate && { n: () => void navigate({ to: '/inventory', search: { create: true } }) }),
    }),
  });
  return (
    <Later isNeeded={isOpen}>
      <ShortcutList isOpen={isOpen} onClose={close} />
    </Later>
  );
}
