import { Modal, Switch } from '@mantine/core';
import { useSingleKeys } from '../kit/keys.ts';
import { type MessageKey, useTexts } from '../kit/messages.tsx';
import styles from './layout.module.css';

const general: [string, MessageKey][] = [
  ['Ctrl K', 'nav.search'],
  ['g h', 'nav.home'],
  ['g i', 'nav.inventory'],
  ['g m', 'nav.map'],
  ['g e', 'nav.explorer'],
  ['g r', 'nav.reports'],
  ['g n', 'bell.title'],
  ['g w', 'nav.profile'],
  ['n', 'create.title'],
  ['/', 'keys.find'],
  ['t', 'keys.table'],
  ['Ctrl Z', 'action.undo'],
  ['?', 'keys.title'],
  ['e', 'keys.firstField'],
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

/** The list of all keys, and whether single keys do anything. */
export function ShortcutList({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const t = useTexts();
  const [isOn, setOn] = useSingleKeys();
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
      onClose={onClose}
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
