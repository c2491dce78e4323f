import { Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { answer, setCardApproval } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { ApprovalMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import styles from './card.module.css';
import { useCard } from './context.tsx';

type Action = 'approve' | 'reject' | 'reset';

/** What leads away from each state. */
const actions: Record<string, readonly Action[]> = {
  DRAFT: ['approve', 'reject'],
  APPROVED: ['reject', 'reset'],
  BROKEN: ['approve', 'reject', 'reset'],
  REJECTED: ['approve', 'reset'],
};
const icons: Record<Action, string> = { approve: 'verified', reject: 'block', reset: 'edit' };

/** Sets the approval of the card. */
export function useApprove() {
  const t = useTexts();
  const reasonOf = useReason();
  const { card, act } = useCard();
  return async (action: Action) => {
    try {
      await act(t(`approval.done.${action}` as MessageKey), async () => {
        const { headers } = await answer(setCardApproval({ path: { id: card.id }, query: { action } }));
        return headers;
      });
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
}

/** What must be there before the card can be approved. */
export function useBlocking(): { id: string; text: string; target: string }[] {
  const { overview } = useCard();
  const { relationType, verb } = useMetamodel();
  const nameOf = (key: string, side: string) => {
    const found = relationType(key);
    return found && verb(found, side === 'source' ? 'outgoing' : 'incoming');
  };
  const { missing_relations = [], missing_tag_groups = [] } = overview.quality?.approval ?? {};
  return [
    ...missing_relations.map(({ type, side, label }) => ({
      id: `${type} ${side}`,
      text: nameOf(type, side) ?? label,
      target: `relation-${type}-${side === 'source' ? 'outgoing' : 'incoming'}`,
    })),
    ...missing_tag_groups.map(({ id, name }) => ({ id, text: name, target: 'tags' })),
  ];
}

/** Brings a part of the page into view and opens what fills it. */
export function reveal(id: string): void {
  const found = document.getElementById(id);
  found?.scrollIntoView({ block: 'center' });
  const filler = found?.matches('[data-fill]') ? found : found?.querySelector<HTMLElement>('[data-fill]');
  filler?.click();
}

/** The state of the approval; those who may change it get a menu that says what is in the way. */
export function ApprovalMenu() {
  const t = useTexts();
  const { card, can } = useCard();
  const blocking = useBlocking();
  const approve = useApprove();
  if (!can('approval_status')) return <ApprovalMark status={card.approval_status} />;
  return (
    <Menu width={260} position="bottom-start">
      <Menu.Target>
        <button type="button" className={styles.plain} aria-label={t('approval.change')}>
          <ApprovalMark status={card.approval_status} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {blocking.length > 0 && (
          <>
            <Menu.Label>{t('approval.blocked')}</Menu.Label>
            {blocking.map(({ id, text, target }) => (
              <Menu.Item key={id} leftSection={<Icon name="add_link" />} onClick={() => reveal(target)}>
                {text}
              </Menu.Item>
            ))}
            <Menu.Divider />
          </>
        )}
        {actions[card.approval_status]!.filter((action) => action !== 'approve' || blocking.length === 0).map(
          (action) => (
            <Menu.Item
              key={action}
              leftSection={<Icon name={icons[action]} />}
              onClick={() => void approve(action)}
            >
              {t(`approval.${action}` as MessageKey)}
            </Menu.Item>
          ),
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
