import { Button, Checkbox, Group, Menu, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  answer,
  call,
  createTodo,
  deleteTodo,
  type ListCardTodosResponse,
  listCardTodos,
  patchTodo,
  promoteTodo,
} from '#client';
import { Dialog } from '../../kit/Dialog.tsx';
import { PersonFinder } from '../../kit/finders.tsx';
import { useFormat } from '../../kit/format.ts';
import { useSubmit } from '../../kit/forms.ts';
import { Icon } from '../../kit/Icon.tsx';
import { today } from '../../kit/lifecycle.ts';
import { Avatar } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useReason } from '../../kit/reasons.ts';
import { useMe } from '../../shell/queries.ts';
import { useCard } from './context.tsx';
import styles from './tabs.module.css';

type Todo = Required<ListCardTodosResponse['items'][number]>;

const PAGE = 50;

/** What is to be done about the card. */
export function TodosTab() {
  const t = useTexts();
  const { card, asOf } = useCard();
  const [dialog, setDialog] = useState<Todo | 'new'>();
  const { data, hasNextPage, fetchNextPage, isPending } = useInfiniteQuery({
    queryKey: ['card', card.id, 'todos'],
    queryFn: ({ signal, pageParam: cursor }) =>
      call(
        listCardTodos({
          signal,
          path: { id: card.id },
          query: { cursor, page_size: PAGE, sort_by: 'status', sort_dir: 'desc' },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const todos = (data?.pages ?? []).flatMap(({ items }) => items as Todo[]);
  const of = (isDone: boolean) => todos.filter(({ status }) => (status === 'done') === isDone);
  const list = (some: Todo[]) => (
    <ul className={styles.list}>
      {some.map((todo) => (
        <TodoItem key={todo.id} todo={todo} onEdit={() => setDialog(todo)} />
      ))}
    </ul>
  );
  return (
    <div className={styles.narrow} aria-busy={isPending}>
      {!asOf && (
        <div>
          <Button leftSection={<Icon name="add" />} onClick={() => setDialog('new')}>
            {t('todos.add')}
          </Button>
        </div>
      )}
      {!isPending && todos.length === 0 && <p className={styles.empty}>{t('todos.none')}</p>}
      {of(false).length > 0 && list(of(false))}
      {of(true).length > 0 && (
        <>
          <h2 className={styles.heading}>{t('todos.done')}</h2>
          {list(of(true))}
        </>
      )}
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()}>
          {t('card.loadMore')}
        </Button>
      )}
      {dialog && (
        <TodoDialog todo={dialog === 'new' ? undefined : dialog} onClose={() => setDialog(undefined)} />
      )}
    </div>
  );
}

function TodoItem({ todo, onEdit }: { todo: Todo; onEdit(): void }) {
  const t = useTexts();
  const reasonOf = useReason();
  const format = useFormat();
  const me = useMe();
  const { overview, act, asOf } = useCard();
  const { status, description, due_date: due, assignee_name, recurrence_unit: unit } = todo;
  const isMine = todo.assigned_to === me.id || todo.created_by === me.id;
  const mayChange =
    !todo.is_system && !asOf && (isMine || Boolean(overview.permissions?.app_level?.['admin.todos']));
  const isLate = status !== 'done' && due !== null && due < today();
  const run = async (done: string, write: () => Promise<Headers>) => {
    try {
      await act(done, write);
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
  const path = { id: todo.id };
  const setDone = (isDone: boolean) =>
    run(t(isDone ? 'todos.closed' : 'todos.reopened'), async () => {
      const body = { status: isDone ? ('done' as const) : ('open' as const) };
      return (await answer(patchTodo({ path, body }))).headers;
    });
  return (
    <li className={styles.item}>
      <Checkbox
        checked={status === 'done'}
        disabled={!mayChange || status === 'scheduled'}
        aria-label={t('todos.setDone', { text: description })}
        onChange={(event) => void setDone(event.target.checked)}
      />
      <div className={styles.itemText}>
        <span className={status === 'done' ? styles.done : undefined}>{description}</span>
        <span className="secondary">
          {[
            status === 'scheduled' ? t('todos.scheduled') : undefined,
            due ? t('todos.due', { date: format.date(due) }) : undefined,
            unit !== 'none' ? t('todos.every', { count: todo.recurrence_interval, unit }) : undefined,
            todo.is_system ? t('todos.system') : undefined,
          ]
            .filter(Boolean)
            .join(' · ')}
          {isLate && <span className={styles.late}> {t('todos.late')}</span>}
        </span>
      </div>
      {assignee_name && <Avatar name={assignee_name} size={24} />}
      {mayChange && (
        <Menu position="bottom-end">
          <Menu.Target>
            <button type="button" className={styles.iconButton} aria-label={t('todos.more')}>
              <Icon name="more_horiz" />
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<Icon name="edit" />} onClick={onEdit}>
              {t('action.edit')}
            </Menu.Item>
            {status === 'scheduled' && (
              <Menu.Item
                leftSection={<Icon name="event" />}
                onClick={() =>
                  void run(t('todos.opened'), async () => (await answer(promoteTodo({ path }))).headers)
                }
              >
                {t('todos.open')}
              </Menu.Item>
            )}
            <Menu.Item
              color="red"
              leftSection={<Icon name="delete" />}
              onClick={() =>
                void run(t('todos.deleted'), async () => (await answer(deleteTodo({ path }))).headers)
              }
            >
              {t('card.delete')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </li>
  );
}

const units = ['none', 'days', 'weeks', 'months', 'years'] as const;

function TodoDialog({ todo, onClose }: { todo: Todo | undefined; onClose(): void }) {
  const t = useTexts();
  const me = useMe();
  const { card, act } = useCard();
  const [description, setDescription] = useState(todo?.description ?? '');
  const [person, setPerson] = useState<{ id: string; display_name: string } | null>(
    todo
      ? todo.assigned_to
        ? { id: todo.assigned_to, display_name: todo.assignee_name ?? '' }
        : null
      : { id: me.id, display_name: me.display_name },
  );
  const [due, setDue] = useState(todo?.due_date ?? '');
  const [unit, setUnit] = useState<(typeof units)[number]>(todo?.recurrence_unit ?? 'none');
  const [interval, setInterval] = useState(todo?.recurrence_interval ?? 1);
  const [lead, setLead] = useState<number | string>(todo?.lead_time_days ?? '');
  const submit = useSubmit(
    () =>
      act(t(todo ? 'todos.changed' : 'todos.added'), async () => {
        const body = {
          description: description.trim(),
          assigned_to: person?.id ?? null,
          due_date: due || null,
          recurrence_unit: unit,
          ...(unit !== 'none' && { recurrence_interval: interval }),
          ...(unit !== 'none' && lead !== '' && { lead_time_days: Number(lead) }),
        };
        return todo
          ? (await answer(patchTodo({ path: { id: todo.id }, body }))).headers
          : (await answer(createTodo({ path: { id: card.id }, body }))).headers;
      }),
    onClose,
  );
  return (
    <Dialog title={t(todo ? 'todos.edit' : 'todos.add')} onClose={onClose}>
      <form onSubmit={submit.submit}>
        <Stack gap="sm">
          <TextInput
            label={t('todos.text')}
            data-autofocus
            value={description}
            error={submit.errorOf('description')}
            onChange={(event) => setDescription(event.target.value)}
          />
          <div>
            <span className={styles.label}>{t('todos.assignee')}</span>
            <PersonFinder
              label={t('todos.assignee')}
              placeholder={t('todos.nobody')}
              chosen={person?.display_name}
              error={submit.errorOf('assigned_to')}
              onPick={setPerson}
            />
          </div>
          <TextInput
            type="date"
            label={t('todos.dueDate')}
            value={due}
            error={submit.errorOf('due_date')}
            onChange={(event) => setDue(event.target.value)}
          />
          <Group gap="xs" align="end">
            <Select
              label={t('todos.repeat')}
              data={units.map((value) => ({ value, label: t(`todos.unit.${value}`) }))}
              value={unit}
              allowDeselect={false}
              onChange={(value) => setUnit(value as typeof unit)}
            />
            {unit !== 'none' && (
              <>
                <NumberInput
                  label={t('todos.interval')}
                  min={1}
                  w={90}
                  value={interval}
                  error={submit.errorOf('recurrence_interval')}
                  onChange={(value) => setInterval(Number(value) || 1)}
                />
                <NumberInput
                  label={t('todos.lead')}
                  placeholder={t('todos.leadDefault')}
                  min={0}
                  w={130}
                  value={lead}
                  error={submit.errorOf('lead_time_days')}
                  onChange={setLead}
                />
              </>
            )}
          </Group>
          {submit.failure && (
            <p className={styles.failure} role="alert">
              {submit.failure}
            </p>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={submit.isBusy} disabled={description.trim() === ''}>
              {t('action.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
