import { Button, Group, Input, SegmentedControl, Select, Stack, Textarea } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { answer, createDataFlow, patchDataFlow } from '#client';
import { Dialog } from '../../kit/Dialog.tsx';
import { CardFinder, type PickedCard } from '../../kit/finders.tsx';
import { useSubmit } from '../../kit/forms.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { type Flow, useFrequencies } from './flows.ts';

interface FlowDialogProps {
  /** A new one without it. */
  flow: Flow | undefined;
  onClose(): void;
}

/** Makes or changes a data flow of the card. */
export function FlowDialog({ flow, onClose }: FlowDialogProps) {
  const t = useTexts();
  const { card, act } = useCard();
  const { types } = useMetamodel();
  const frequencies = useFrequencies();
  const [way, setWay] = useState<'to' | 'from' | 'both'>(flow?.direction === 'bidirectional' ? 'both' : 'to');
  const [peer, setPeer] = useState<PickedCard>();
  const [via, setVia] = useState<PickedCard | null>(flow?.interface ?? null);
  const [objects, setObjects] = useState<PickedCard[]>(flow?.data_objects ?? []);
  const [frequency, setFrequency] = useState(flow?.frequency ?? null);
  const [description, setDescription] = useState(flow?.description ?? '');
  const submit = useSubmit(
    () =>
      act(t(flow ? 'flows.changed' : 'flows.added'), async () => {
        const body = {
          interface_id: via?.id ?? null,
          data_object_ids: objects.map(({ id }) => id),
          direction: way === 'both' ? ('bidirectional' as const) : ('forward' as const),
          frequency,
          description: description.trim() || null,
        };
        if (flow) return (await answer(patchDataFlow({ path: { id: flow.id }, body }))).headers;
        const [source_id, target_id] = way === 'from' ? [peer!.id, card.id] : [card.id, peer!.id];
        return (await answer(createDataFlow({ body: { ...body, source_id, target_id } }))).headers;
      }),
    onClose,
  );
  const ways = flow
    ? [
        { value: 'to', label: t('flows.forward') },
        { value: 'both', label: t('flows.both') },
      ]
    : [
        { value: 'to', label: t('flows.to') },
        { value: 'from', label: t('flows.from') },
        { value: 'both', label: t('flows.both') },
      ];
  return (
    <Dialog title={flow ? `${flow.source.name} → ${flow.target.name}` : t('flows.new')} onClose={onClose}>
      <form onSubmit={submit.submit}>
        <Stack gap="sm">
          <SegmentedControl
            size="xs"
            data={ways}
            value={way}
            onChange={(value) => setWay(value as typeof way)}
            aria-label={t('flows.way')}
          />
          {!flow && (
            <Labelled text={t('flows.peer')}>
              <CardFinder
                autoFocus
                label={t('flows.peer')}
                chosen={peer?.name}
                types={types.filter(({ has_data_flows }) => has_data_flows).map(({ key }) => key)}
                except={new Set([card.id])}
                error={submit.errorOf('target_id') ?? submit.errorOf('source_id')}
                onPick={setPeer}
              />
            </Labelled>
          )}
          <Labelled text={t('flows.data')}>
            <DataObjects objects={objects} onChange={setObjects} />
          </Labelled>
          <Labelled text={t('flows.over')}>
            <CardFinder
              label={t('flows.over')}
              placeholder={t('flows.noInterface')}
              chosen={via?.name}
              types={['Interface']}
              onPick={setVia}
            />
            {via && (
              <button type="button" className={styles.moreButton} onClick={() => setVia(null)}>
                {t('flows.noInterface')}
              </button>
            )}
          </Labelled>
          <Select
            label={t('flows.frequency')}
            data={frequencies.map(({ key, label }) => ({ value: key, label }))}
            value={frequency}
            clearable
            onChange={setFrequency}
          />
          <Textarea
            label={t('field.description')}
            autosize
            minRows={2}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
          {submit.reason && (
            <p className={styles.failure} role="alert">
              {submit.reason}
            </p>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={submit.isBusy} disabled={!flow && !peer}>
              {t('action.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

interface DataObjectsProps {
  objects: readonly PickedCard[];
  onChange(objects: PickedCard[]): void;
}

function DataObjects({ objects, onChange }: DataObjectsProps) {
  const t = useTexts();
  return (
    <>
      <div className={styles.chips}>
        {objects.map(({ id, name }) => (
          <span key={id} className={styles.relation}>
            <span>{name}</span>
            <button
              type="button"
              className={styles.chipMenu}
              aria-label={t('flows.without', { name })}
              onClick={() => onChange(objects.filter((one) => one.id !== id))}
            >
              <Icon name="close" size={14} />
            </button>
          </span>
        ))}
      </div>
      <CardFinder
        label={t('flows.addData')}
        placeholder={t('flows.addData')}
        types={['DataObject']}
        except={new Set(objects.map(({ id }) => id))}
        onPick={(picked) => onChange([...objects, picked])}
      />
    </>
  );
}

function Labelled({ text, children }: { text: string; children: ReactNode }) {
  return (
    <div>
      <Input.Label labelElement="div">{text}</Input.Label>
      {children}
    </div>
  );
}
