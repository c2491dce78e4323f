import { ActionIcon, Button, Menu, Popover, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { addFavorite, call, observeCard, removeFavorite, stopObservingCard } from '#client';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { today } from '../../kit/lifecycle.ts';
import { useTexts } from '../../kit/messages.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { favoritesQuery, observingQuery, useRefresh } from './queries.ts';
import { RemoveDialog } from './RemoveDialog.tsx';
import { RestoreDialog } from './RestoreDialog.tsx';

/** What can be done with the card as a whole, in the bar of the page. */
export function CardActions() {
  return (
    <>
      <AsOfButton />
      <StarButton />
      <MoreMenu />
    </>
  );
}

/** Chooses the day that the page shows. */
function AsOfButton() {
  const t = useTexts();
  const format = useFormat();
  const navigate = useNavigate({ from: '/cards/$id' });
  const { card, asOf } = useCard();
  const [isOpen, setOpen] = useState(false);
  const go = (day: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, asOf: day === today() ? undefined : day }) });
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button
          variant={asOf ? 'light' : 'subtle'}
          color="gray"
          fw={450}
          className={styles.asOf}
          aria-label={asOf ? t('card.asOf', { date: format.date(asOf) }) : t('card.asOfToday')}
          leftSection={<Icon name="history" />}
          onClick={() => setOpen(!isOpen)}
        >
          {asOf ? t('card.asOf', { date: format.date(asOf) }) : t('card.asOfToday')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <TextInput
          type="date"
          label={t('card.asOfDay')}
          min={card.created_at.slice(0, 10)}
          max={today()}
          value={asOf ?? today()}
          onChange={(event) => event.target.value && go(event.target.value)}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

function StarButton() {
  const t = useTexts();
  const client = useQueryClient();
  const { card } = useCard();
  const { data: starred } = useQuery(favoritesQuery);
  const isStarred = starred?.has(card.id) ?? false;
  const toggle = async () => {
    const path = { card_id: card.id };
    await (isStarred ? call(removeFavorite({ path })) : call(addFavorite({ path })));
    await client.invalidateQueries({ queryKey: ['home', 'favorites'] });
  };
  return (
    <ActionIcon
      size={30}
      aria-pressed={isStarred}
      aria-label={t(isStarred ? 'card.unstar' : 'card.star')}
      title={t(isStarred ? 'card.unstar' : 'card.star')}
      onClick={() => void toggle()}
    >
      <Icon name={isStarred ? 'star-fill' : 'star'} size={18} />
    </ActionIcon>
  );
}

function MoreMenu() {
  const t = useTexts();
  const { card, can } = useCard();
  const refresh = useRefresh();
  const { data: observing } = useQuery(observingQuery(card.id));
  const [dialog, setDialog] = useState<'archive' | 'delete' | 'restore'>();
  const isArchived = card.status === 'ARCHIVED';
  const copy = async (text: string) => {
    await navigator.clipboard.writeText(text);
    notifications.show({ message: t('card.copied', { text }) });
  };
  const follow = async () => {
    const path = { id: card.id };
    await (observing?.is_observer ? call(stopObservingCard({ path })) : call(observeCard({ path })));
    await refresh();
  };
  const close = () => setDialog(undefined);
  return (
    <>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <ActionIcon size={30} aria-label={t('card.more')}>
            <Icon name="more_horiz" size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<Icon name="link" />}
            onClick={() => void copy(`${window.location.origin}/cards/${card.id}`)}
          >
            {t('card.copyLink')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="content_copy" />} onClick={() => void copy(card.number)}>
            {t('card.copyNumber', { number: card.number })}
          </Menu.Item>
          {observing?.observer_role_available && (
            <Menu.Item leftSection={<Icon name="visibility" />} onClick={() => void follow()}>
              {t(observing.is_observer ? 'card.unfollow' : 'card.follow')}
            </Menu.Item>
          )}
          {(can('archive') || can('delete')) && <Menu.Divider />}
          {can('archive') && (
            <Menu.Item
              leftSection={<Icon name={isArchived ? 'history' : 'inventory_2'} />}
              onClick={() => setDialog(isArchived ? 'restore' : 'archive')}
            >
              {t(isArchived ? 'card.restore' : 'card.archive')}
            </Menu.Item>
          )}
          {can('delete') && (
            <Menu.Item color="red" leftSection={<Icon name="delete" />} onClick={() => setDialog('delete')}>
              {t('card.delete')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'restore' && <RestoreDialog onClose={close} />}
      {(dialog === 'archive' || dialog === 'delete') && <RemoveDialog how={dialog} onClose={close} />}
    </>
  );
}
