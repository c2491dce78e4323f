import { ActionIcon, Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, call, deleteDataFlow, listCardDataFlows } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { FlowDialog } from './FlowDialog.tsx';
import { type Flow, flowEnds, useFrequencies } from './flows.ts';

const PAGE = 100;

/** Types whose cards carry data flows between others. */
const carriers = new Set(['Interface', 'DataObject']);

/** The data that the card sends and receives, or that flows over it. */
export function FlowsPanel() {
  const t = useTexts();
  const { card, overview, can } = useCard();
  const { type: typeOf } = useMetamodel();
  const [dialog, setDialog] = useState<Flow | 'new'>();
  const canHave = Boolean(typeOf(card.type)?.has_data_flows);
  const isShown = Boolean(overview.relations) && (canHave || carriers.has(card.type));
  const { data } = useQuery({
    queryKey: ['card', card.id, 'flows'],
    queryFn: ({ signal }) =>
      call(listCardDataFlows({ signal, path: { id: card.id }, query: { page_size: PAGE } })),
    enabled: isShown,
  });
  const flows = (data?.items ?? []) as Flow[];
  if (!isShown || (flows.length === 0 && !(canHave && can('manage_relations')))) return null;
  return (
    <section className={styles.panel} aria-label={t('flows.title')}>
      <h2>
        {t('flows.title')} <span className="secondary">{data?.total}</span>
        {canHave && can('manage_relations') && (
          <Button
            size="compact-xs"
            variant="default"
            className={styles.headButton}
            leftSection={<Icon name="add" size={14} />}
            onClick={() => setDialog('new')}
          >
            {t('flows.add')}
          </Button>
        )}
      </h2>
      {flows.length === 0 ? (
        <p className="secondary">{t('flows.none')}</p>
      ) : (
        <div className={styles.scrollX}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">{t('flows.way')}</th>
                <th scope="col">{t('flows.data')}</th>
                <th scope="col">{t('flows.over')}</th>
                <th scope="col">{t('flows.frequency')}</th>
                <th scope="col">
                  <span className="visually-hidden">{t('card.more')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {flows.map((flow) => (
                <FlowRow key={flow.id} flow={flow} onEdit={() => setDialog(flow)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {(data?.total ?? 0) > flows.length && (
        <p className="secondary">{t('facets.more', { count: data!.total! - flows.length })}</p>
      )}
      {dialog && (
        <FlowDialog flow={dialog === 'new' ? undefined : dialog} onClose={() => setDialog(undefined)} />
      )}
    </section>
  );
}

function FlowRow({ flow, onEdit }: { flow: Flow; onEdit(): void }) {
  const t = useTexts();
  const reasonOf = useReason();
  const { card, can, act } = useCard();
  const frequencies = useFrequencies();
  const { icon, text, cards } = flowEnds(flow, card.id);
  const remove = async () => {
    try {
      await act(
        t('flows.removed'),
        async () => (await answer(deleteDataFlow({ path: { id: flow.id } }))).headers,
      );
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
  const link = ({ id, name, type }: { id: string; name: string; type: string }) => (
    <Link key={id} to="/cards/$id" params={{ id }} className={styles.cardLink}>
      <TypeMark type={type} size={18} /> {name}
    </Link>
  );
  return (
    <tr title={flow.description ?? undefined}>
      <td>
        <span className={styles.flow}>
          <span className={styles.way} role="img" aria-label={t(text)} title={t(text)}>
            <Icon name={icon} />
          </span>
          {cards.map(link)}
        </span>
      </td>
      <td>{flow.data_objects.length > 0 ? flow.data_objects.map(link) : <span className="muted">–</span>}</td>
      <td>{flow.interface ? link(flow.interface) : <span className="muted">–</span>}</td>
      <td>
        {frequencies.find(({ key }) => key === flow.frequency)?.label ?? flow.frequency ?? (
          <span className="muted">–</span>
        )}
      </td>
      <td className={styles.last}>
        {can('manage_relations') && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={t('flows.more')}>
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
        )}
      </td>
    </tr>
  );
}
