import { ActionIcon, Button } from '@mantine/core';
import { type ComponentType, useRef, useState } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { useKeys } from '../../kit/keys.ts';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMe } from '../../shell/queries.ts';
import { ApprovalDialog } from './ApprovalDialog.tsx';
import type { BulkProps } from './BulkDialog.tsx';
import styles from './inventory.module.css';
import { MassEditDialog } from './MassEditDialog.tsx';
import { canMerge, MergeDialog } from './MergeDialog.tsx';
import { RelateDialog } from './RelateDialog.tsx';
import { RemoveDialog, RestoreDialog } from './RemoveDialog.tsx';
import { TagDialog } from './TagDialog.tsx';

interface Action {
  key: string;
  text: MessageKey;
  icon: string;
  permissions: string[];
  dialog: ComponentType<BulkProps>;
  fits?(cards: BulkProps['cards']): boolean;
  isDangerous?: boolean;
}

const isOneType = (cards: BulkProps['cards']) => new Set(cards.map(({ type }) => type)).size === 1;

const ofActive: Action[] = [
  {
    key: 'edit',
    text: 'bar.edit',
    icon: 'edit',
    permissions: ['inventory.bulk_edit', 'inventory.edit'],
    dialog: MassEditDialog,
    fits: isOneType,
  },
  { key: 'tag', text: 'bar.tag', icon: 'bookmark', permissions: ['inventory.bulk_edit'], dialog: TagDialog },
  {
    key: 'relate',
    text: 'bar.relate',
    icon: 'add_link',
    permissions: ['relations.manage'],
    dialog: RelateDialog,
    fits: isOneType,
  },
  {
    key: 'approve',
    text: 'bar.approve',
    icon: 'verified',
    permissions: ['inventory.approval_status'],
    dialog: ApprovalDialog,
  },
  {
    key: 'merge',
    text: 'bar.merge',
    icon: 'call_merge',
    permissions: ['inventory.edit', 'inventory.archive'],
    dialog: MergeDialog,
    fits: canMerge,
  },
  {
    key: 'archive',
    text: 'bar.archive',
    icon: 'inventory_2',
    permissions: ['inventory.archive'],
    dialog: (props) => <RemoveDialog action="archive" {...props} />,
    isDangerous: true,
  },
];

const ofArchived: Action[] = [
  {
    key: 'restore',
    text: 'bar.restore',
    icon: 'refresh',
    permissions: ['inventory.archive'],
    dialog: RestoreDialog,
  },
  {
    key: 'delete',
    text: 'bar.delete',
    icon: 'delete',
    permissions: ['inventory.delete'],
    dialog: (props) => <RemoveDialog action="delete" {...props} />,
    isDangerous: true,
  },
];

interface SelectionBarProps {
  cards: BulkProps['cards'];
  isArchived: boolean;
  /** Cards of the filter that are not selected. */
  others: number;
  onSelectAll(): Promise<void>;
  onClear(): void;
}

/** What can be done with the selected cards. */
export function SelectionBar({ cards, isArchived, others, onSelectAll, onClear }: SelectionBarProps) {
  const t = useTexts();
  const { permissions } = useMe();
  const [open, setOpen] = useState<Action>();
  const [isSelecting, setSelecting] = useState(false);
  const bar = useRef<HTMLDivElement>(null);
  useKeys({ '.': () => bar.current?.querySelector('button')?.focus() });
  if (cards.length === 0) return null;
  const actions = (isArchived ? ofArchived : ofActive).filter(
    ({ permissions: needed, fits }) =>
      (permissions['*'] === true || needed.every((one) => permissions[one])) && (fits?.(cards) ?? true),
  );
  const Dialog = open?.dialog;
  return (
    <div ref={bar} className={styles.bar} role="toolbar" aria-label={t('bar.title')}>
      <strong>{t('bar.selected', { count: cards.length })}</strong>
      {others > 0 && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={isSelecting}
          onClick={async () => {
            setSelecting(true);
            await onSelectAll().finally(() => setSelecting(false));
          }}
        >
          {t('bar.selectAll', { count: cards.length + others })}
        </Button>
      )}
      {actions.map((action) => (
        <Button
          key={action.key}
          variant="subtle"
          size="compact-sm"
          color={action.isDangerous ? 'red' : 'gray'}
          leftSection={<Icon name={action.icon} />}
          onClick={() => setOpen(action)}
        >
          {t(action.text)}
        </Button>
      ))}
      <ActionIcon aria-label={t('bar.clear')} onClick={onClear}>
        <Icon name="close" />
      </ActionIcon>
      {Dialog && (
        <Dialog
          cards={cards}
          onClose={() => setOpen(undefined)}
          onDone={() => {
            setOpen(undefined);
            onClear();
          }}
        />
      )}
    </div>
  );
}
