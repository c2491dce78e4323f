import { Modal, Switch } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useKeys, useSingleKeys } from '../kit/keys.ts';
import { type MessageKey, useTexts } from '../kit/messages.tsx';
import styles from './layout.module.css';

const areas = { h: '/', i: '/inventory', m: '/map', e: '/explorer', r: '/reports/$' } as const;
/** How long a second key may follow, in milliseconds. */
const FOLLOW_MS = 1_500;

const general: [string, MessageKey][] = [
  ['Ctrl K', 'nav.search'],
  ['g h', 'nav.home'],
  ['g i', 'nav.inventory'],
  ['g m', 'nav.map'],
  ['g e', 'nav.explorer'],
  ['g r', 'nav.reports'],
  ['t', 'keys.table'],
  ['Ctrl Z', 'action.undo'],
  ['?', 'keys.title'],
];
const table: [string, MessageKey][] = [
  ['n', 'create.title'],
  ['/', 'keys.find'],
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
export function Shortcuts() {
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
  useKeys({ g: waitForArea, '?': open });
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
