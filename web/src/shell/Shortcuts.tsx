import { Modal, Switch } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useKeys, useSingleKeys } from '../kit/keys.ts';
import { type MessageKey, useTexts } from '../kit/messages.tsx';
import styles from './layout.module.css';
import { isAllowed, useMe } from './queries.ts';

const areas = { h: '/', i: '/inventory', m: '/map', e: '/explorer', r: '/reports/$', w: '/me' } as const;
/** How long a second key may follow, in milliseconds. */
const FOLLOW_MS = 1_500;

const general: [string, MessageKey][] = [
  ['Ctrl K', 'nav.search'],
  ['g h', 'nav.home'],
  ['g i', 'nav.inventory'],
  ['g m', 'nav.map'],
  ['g e', 'nav.explorer'],
  ['g r', 'nav.reports'],
  ['g w', 'nav.profile'],
  ['n', 'create.title'],
  ['/', 'keys.find'],
  ['t', 'keys.table'],
  ['Ctrl Z', 'action.undo'],
  ['?', 'keys.title'],
];
const table: [string, MessageKey][] = [
  ['f', 'keys.filter'],
  ['.', 'bar.title'],
  ['j  k', 'keys.next'],
  ['Space', 'keys.peek'],
  ['x', 'keys.select'],
  ['e  Enter', 'keys.edit'],
  ['Shift ↑ ↓ ← →', 'keys.range'],
  ['Ctrl C  Ctrl V', 'keys.copy'],
  ['Ctrl D', 'cell.fill'],
  ['Delete', 'cell.clear'],
  ['F8', 'keys.problem'],
];

/** The keys that work on every page: `g` and a letter leads to an area, `?` lists them. */
export function Shortcuts({ onSearch }: { onSearch(): void }) {
  const t = useTexts();
  const navigate = useNavigate();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [isOn, setOn] = useSingleKeys();
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
  const list = (title: MessageKey, keys: [string, MessageKey][]) => (
    <section>
      <h3 className={styles.keysTitle}>{t(title)}</h3>
      <dl className={styles.keys}>
        {keys.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t('keys.title')}
      size={640}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <div className={styles.keysColumns}>
        {list('keys.everywhere', general)}
        {list('keys.inTable', table)}
      </div>
      <Switch
        mt="md"
        label={t('keys.single')}
        description={t('keys.singleHelp')}
        checked={isOn}
        onChange={(event) => setOn(event.target.checked)}
      />
    </Modal>
  );
}
