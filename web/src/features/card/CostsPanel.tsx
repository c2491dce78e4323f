import { ActionIcon, Button, Group, Menu, Select, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  addCardCost,
  addRelationCost,
  answer,
  call,
  deleteCost,
  type ListCardCostsResponse,
  listCardCosts,
  listRelationCosts,
  patchCost,
  readCostKinds,
} from '#client';
import { Dialog } from '../../kit/Dialog.tsx';
import { useFormat } from '../../kit/format.ts';
import { useSubmit } from '../../kit/forms.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useLanguage, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { numberOf, numberText } from '../../kit/numbers.ts';
import { useReason } from '../../kit/reasons.ts';
import { useBootstrap } from '../../shell/queries.ts';
import styles from './card.module.css';
import { useCard } from './context.tsx';

type Cost = Required<ListCardCostsResponse['items'][number]>;

const PAGE = 50;

/** What costs belong to: the card, or one of its relations. */
interface CostsProps {
  relationId?: string;
}

/** The kinds of costs, with their labels in the person's language. */
function useKinds(): { key: string; label: string }[] {
  const { label } = useMetamodel();
  const { data } = useQuery({
    queryKey: ['settings', 'cost-kinds'],
    queryFn: ({ signal }) => call(readCostKinds({ signal })),
  });
  return (data?.kinds ?? []).map((kind) => ({ key: kind.key, label: label(kind) }));
}

/** The costs of the card by period; hidden from those who may not see costs. */
export function CostsPanel() {
  const t = useTexts();
  const { can, asOf } = useCard();
  if (!can('view_costs') || asOf) return null;
  return (
    <section className={styles.panel} aria-label={t('costs.byPeriod')}>
      <Costs />
    </section>
  );
}

/** Costs of the card or of a relation, with what adds, changes and removes them. */
export function Costs({ relationId }: CostsProps) {
  const t = useTexts();
  const format = useFormat();
  const { card, can } = useCard();
  const { currency: own } = useBootstrap();
  const kinds = useKinds();
  const [dialog, setDialog] = useState<Cost | 'new'>();
  const { data, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['card', card.id, 'costs', relationId],
    queryFn: ({ signal, pageParam: cursor }) => {
      const query = { cursor, page_size: PAGE, sort_by: 'period_start', sort_dir: 'desc' as const };
      return relationId
        ? call(listRelationCosts({ signal, path: { id: relationId }, query }))
        : call(listCardCosts({ signal, path: { id: card.id }, query }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const costs = (data?.pages ?? []).flatMap(({ items }) => items as Cost[]);
  const mayChange = can(relationId ? 'manage_relations' : 'edit');
  return (
    <>
      <h2>
        {t('costs.byPeriod')}
        {mayChange && (
          <Button
            size="compact-xs"
            variant="default"
            className={styles.headButton}
            leftSection={<Icon name="add" size={14} />}
            onClick={() => setDialog('new')}
          >
            {t('costs.add')}
          </Button>
        )}
      </h2>
      {costs.length === 0 && <p className="secondary">{t('costs.none')}</p>}
      {costs.length > 0 && (
        <div className={styles.scrollX}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">{t('costs.period')}</th>
                <th scope="col">{t('costs.kind')}</th>
                <th scope="col">{t('field.description')}</th>
                <th scope="col" className={styles.amount}>
                  {t('costs.amount')}
                </th>
                <th scope="col">
                  <span className="visually-hidden">{t('card.more')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {costs.map((cost) => (
                <tr key={cost.id}>
                  <td>
                    {format.date(cost.period_start)} – {format.date(cost.period_end)}
                  </td>
                  <td>{kinds.find(({ key }) => key === cost.kind)?.label ?? cost.kind}</td>
                  <td>{cost.description ?? <span className="muted">–</span>}</td>
                  <td className={styles.amount}>
                    {cost.converted_amount === null ? '–' : format.money(cost.converted_amount)}
                    {cost.currency !== own && (
                      <div className="secondary">
                        {format.number(cost.amount)} {cost.currency}
                      </div>
                    )}
                  </td>
                  <td className={styles.last}>
                    {mayChange && <CostMenu cost={cost} onEdit={() => setDialog(cost)} />}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasNextPage && (
        <button type="button" className={styles.moreButton} onClick={() => void fetchNextPage()}>
          {t('card.loadMore')}
        </button>
      )}
      {dialog && (
        <CostDialog
          cost={dialog === 'new' ? undefined : dialog}
          {...(relationId && { relationId })}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  );
}

function CostMenu({ cost, onEdit }: { cost: Cost; onEdit(): void }) {
  const t = useTexts();
  const reasonOf = useReason();
  const { act } = useCard();
  const remove = async () => {
    try {
      await act(
        t('costs.removed'),
        async () => (await answer(deleteCost({ path: { id: cost.id } }))).headers,
      );
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t('costs.more')}>
          <Icon name="more_horiz" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Icon name="edit" />} onClick={onEdit}>
          {t('action.edit')}
        </Menu.Item>
        <Menu.Item color="red" leftSection={<Icon name="delete" />} onClick={() => void remove()}>
          {t('action.remove')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function CostDialog({ cost, relationId, onClose }: CostsProps & { cost: Cost | undefined; onClose(): void }) {
  const { t, language } = useLanguage();
  const { card, act } = useCard();
  const { currency: own } = useBootstrap();
  const kinds = useKinds();
  const year = new Date().getFullYear();
  const [form, setForm] = useState({
    kind: cost?.kind ?? '',
    period_start: cost?.period_start ?? `${year}-01-01`,
    period_end: cost?.period_end ?? `${year}-12-31`,
    amount: cost ? numberText(cost.amount, language) : '',
    currency: cost?.currency ?? own,
    description: cost?.description ?? '',
  });
  const amount = numberOf(form.amount, language);
  const submit = useSubmit(
    () =>
      act(t(cost ? 'costs.changed' : 'costs.added'), async () => {
        const body = {
          ...form,
          kind: form.kind || kinds[0]!.key,
          amount: amount!,
          description: form.description.trim() || null,
        };
        if (cost) return (await answer(patchCost({ path: { id: cost.id }, body }))).headers;
        return relationId
          ? (await answer(addRelationCost({ path: { id: relationId }, body }))).headers
          : (await answer(addCardCost({ path: { id: card.id }, body }))).headers;
      }),
    onClose,
  );
  const input = (field: Exclude<keyof typeof form, 'kind'>, label: string, more: object = {}) => (
    <TextInput
      label={label}
      value={form[field]}
      error={submit.errorOf(field)}
      onChange={(event) => setForm({ ...form, [field]: event.target.value })}
      {...more}
    />
  );
  return (
    <Dialog title={t(cost ? 'costs.edit' : 'costs.new')} onClose={onClose}>
      <form onSubmit={submit.submit}>
        <Stack gap="sm">
          <Group gap="sm" grow>
            {input('amount', t('costs.amount'), {
              inputMode: 'decimal',
              'data-autofocus': true,
              ...(amount === undefined && form.amount.trim() !== '' && { error: t('costs.noNumber') }),
            })}
            {input('currency', t('costs.currency'), { maxLength: 3 })}
          </Group>
          <Select
            label={t('costs.kind')}
            data={kinds.map(({ key, label }) => ({ value: key, label }))}
            value={form.kind || (kinds[0]?.key ?? null)}
            allowDeselect={false}
            onChange={(kind) => setForm({ ...form, kind: kind ?? '' })}
          />
          <Group gap="sm" grow>
            {input('period_start', t('costs.from'), { type: 'date' })}
            {input('period_end', t('costs.to'), { type: 'date' })}
          </Group>
          {input('description', t('field.description'))}
          {submit.failure && (
            <p className={styles.failure} role="alert">
              {submit.failure}
            </p>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={submit.isBusy} disabled={amount === undefined}>
              {t('action.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
