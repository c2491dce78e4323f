import { Button, Checkbox, Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, call, createCard, listCards } from '#client';
import { Dialog } from '../../kit/Dialog.tsx';
import { FieldInput } from '../../kit/FieldInput.tsx';
import { CardFinder, type PickedCard } from '../../kit/finders.tsx';
import { useSubmit } from '../../kit/forms.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useSetting } from '../../kit/setting.ts';
import { useUndoToast } from '../../kit/undo.tsx';
import styles from './inventory.module.css';

interface CreateDialogProps {
  type: string | undefined;
  onClose(): void;
  onCreated(card: { id: string; type: string }): void;
}

interface NewCard {
  name: string;
  description: string;
  subtype: string | null;
  attributes: Record<string, unknown>;
}

/** What most landscapes begin with. */
const isUsual = ({ key }: { key: string }) => key === 'Application';

const nothing: NewCard = { name: '', description: '', subtype: null, attributes: {} };

/** The type of a new card: at first the given one, or the one that was used last; the types to choose from, and how to remember it. */
function useNewType(preset: string | undefined) {
  const { types } = useMetamodel();
  const shown = types.filter((one) => !one.is_hidden);
  const [last, setLast] = useSetting<string>('create.type');
  const [type, setType] = useState(
    () => preset ?? (shown.find(({ key }) => key === last) ?? shown.find(isUsual) ?? shown[0])?.key ?? '',
  );
  return { shown, type, setType, remember: () => type !== last && setLast(type) };
}

/** A new card, with what its type requires. */
export function CreateDialog({ type: preset, onClose, onCreated }: CreateDialogProps) {
  const t = useTexts();
  const client = useQueryClient();
  const showUndo = useUndoToast();
  const { type: typeOf, sections, label } = useMetamodel();
  const { shown, type, setType, remember } = useNewType(preset);
  const [card, setCard] = useState(nothing);
  const [parent, setParent] = useState<PickedCard | null>(null);
  const [goesOn, setGoesOn] = useState(false);
  const known = typeOf(type);
  const required = sections(type)
    .flatMap((section) => section.fields)
    .filter((field) => field.required && !field.readonly);
  const set = (change: Partial<NewCard>) => setCard({ ...card, ...change });
  const form = useSubmit(
    async () => {
      const { name, description, subtype, attributes } = card;
      const body = {
        type,
        name,
        ...(subtype && { subtype }),
        ...(description && { description }),
        ...(parent && { parent_id: parent.id }),
        attributes,
      };
      return await answer(createCard({ body }));
    },
    ({ data, headers }) => {
      for (const key of ['cards', 'facets']) void client.invalidateQueries({ queryKey: [key] });
      remember();
      showUndo(t('create.done', { name: data.name }), headers.get('x-mutation-batch'));
      if (goesOn) setCard({ ...nothing, subtype: card.subtype });
      else onCreated(data);
    },
  );
  return (
    <Dialog onClose={onClose} title={t('create.title')}>
      <form onSubmit={form.submit}>
        <Stack gap="sm">
          <Group grow align="start">
            <Select
              label={t('field.type')}
              searchable
              allowDeselect={false}
              value={type}
              data={shown.map((one) => ({ value: one.key, label: label(one) }))}
              error={form.errorOf('type')}
              onChange={(value: string | null) => {
                setType(value ?? type);
                setParent(null);
                set({ subtype: null, attributes: {} });
              }}
            />
            <SubtypeSelect
              type={type}
              value={card.subtype}
              error={form.errorOf('subtype')}
              onChange={(subtype) => set({ subtype })}
            />
          </Group>
          <TextInput
            label={t('field.name')}
            data-autofocus
            required
            value={card.name}
            error={form.errorOf('name')}
            onChange={(event) => set({ name: event.target.value })}
          />
          <Similar type={type} name={card.name} />
          <Textarea
            label={t('field.description')}
            autosize
            minRows={2}
            maxRows={8}
            value={card.description}
            error={form.errorOf('description')}
            onChange={(event) => set({ description: event.target.value })}
          />
          {known?.has_hierarchy && (
            <CardFinder
              key={type}
              look="form"
              label={t('field.parent')}
              placeholder={t('card.find')}
              types={[type]}
              chosen={parent?.name}
              error={form.errorOf('parent_id')}
              onPick={setParent}
              onClear={() => setParent(null)}
            />
          )}
          {required.map((field) => (
            <FieldInput
              key={field.key}
              field={field}
              label={label(field)}
              value={card.attributes[field.key]}
              error={form.errorOf(`attributes.${field.key}`)}
              onChange={(value) => set({ attributes: { ...card.attributes, [field.key]: value } })}
            />
          ))}
          {form.failure && <p className={styles.failure}>{form.failure}</p>}
          <Group justify="space-between">
            <Checkbox
              label={t('create.another')}
              checked={goesOn}
              onChange={(event) => setGoesOn(event.target.checked)}
            />
            <Submit
              text={t('create.submit', { type: known ? label(known) : '' })}
              isBusy={form.isBusy}
              isReady={card.name.trim() !== '' && type !== ''}
              onClose={onClose}
            />
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

interface SubtypeSelectProps {
  type: string;
  value: string | null;
  error: string | undefined;
  onChange(subtype: string | null): void;
}

function SubtypeSelect({ type, value, error, onChange }: SubtypeSelectProps) {
  const t = useTexts();
  const { type: typeOf, label } = useMetamodel();
  const subtypes = (typeOf(type)?.subtypes ?? []) as { key: string; label: string }[];
  if (subtypes.length === 0) return null;
  return (
    <Select
      label={t('field.subtype')}
      clearable
      value={value}
      data={subtypes.map((one) => ({ value: one.key, label: label(one) }))}
      error={error}
      onChange={onChange}
    />
  );
}

interface SubmitProps {
  text: string;
  isBusy: boolean;
  isReady: boolean;
  onClose(): void;
}

function Submit({ text, isBusy, isReady, onClose }: SubmitProps) {
  const t = useTexts();
  return (
    <Group gap="sm">
      <Button variant="default" onClick={onClose}>
        {t('action.cancel')}
      </Button>
      <Button type="submit" loading={isBusy} disabled={!isReady}>
        {text}
      </Button>
    </Group>
  );
}

const SIMILAR = 3;
const SHORTEST = 3;

/** Cards of the type that are found by the name, since one of them may be the same. */
function Similar({ type, name }: { type: string; name: string }) {
  const t = useTexts();
  const [search] = useDebouncedValue(name.trim(), 250);
  const { data } = useQuery({
    queryKey: ['cards', 'similar', type, search],
    queryFn: ({ signal }) =>
      call(listCards({ signal, query: { type, search, page_size: SIMILAR, fields: 'id,name,number' } })),
    enabled: search.length >= SHORTEST,
    placeholderData: keepPreviousData,
  });
  const items = search.length >= SHORTEST && name.trim() !== '' ? (data?.items ?? []) : [];
  if (items.length === 0) return null;
  return (
    <div className={styles.similar}>
      <Icon name="warning" />
      <span>{t('create.similar')}</span>
      {items.map(({ id, name: found }) => (
        <Link key={id} to="/cards/$id" params={{ id: id! }} target="_blank">
          {found}
        </Link>
      ))}
    </div>
  );
}
