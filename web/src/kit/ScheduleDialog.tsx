import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, createExtractionSchedule, type SavedReport } from '#client';
import { useMe } from '../shell/queries.ts';
import { channelsQuery } from './channels.ts';
import { Dialog } from './Dialog.tsx';
import { useSubmit } from './forms.ts';
import { useLanguage, useTexts } from './messages.tsx';
import { noSftp, SftpFields, sftpDestination } from './SftpFields.tsx';

interface ScheduleDialogProps {
  saved: Pick<SavedReport, 'id' | 'name'>;
  onClose(): void;
}

const rhythms = ['daily', 'weekdays', 'weekly', 'monthly'] as const;
type Rhythm = (typeof rhythms)[number];
/** Day of the month, and days of the week, of cron. */
const days: Record<Rhythm, string> = {
  daily: '* * *',
  weekdays: '* * 1-5',
  weekly: '* * 1',
  monthly: '1 * *',
};

const formats = ['pdf', 'png', 'svg', 'pptx', 'xlsx', 'csv'] as const;
type Format = (typeof formats)[number];

/** Asks how often a saved report is sent, as what, and where: to oneself by mail, to a channel, or to an SFTP server. */
export function ScheduleDialog({ saved, onClose }: ScheduleDialogProps) {
  const t = useTexts();
  const me = useMe();
  const { language } = useLanguage();
  const { data: channels = [] } = useQuery(channelsQuery);
  const [name, setName] = useState(saved.name);
  const [format, setFormat] = useState<Format>('pdf');
  const [rhythm, setRhythm] = useState<Rhythm>('weekly');
  const [time, setTime] = useState('07:00');
  const [to, setTo] = useState('mail');
  const [server, setServer] = useState(noSftp);
  const destinationOf = (target: string) => {
    if (target === 'mail') return { kind: 'mail' as const, recipients: [me.email] };
    if (target === 'sftp') return sftpDestination(server);
    return { kind: 'channel' as const, channel_id: target };
  };
  const form = useSubmit(
    async () => {
      const [hour, minute] = time.split(':').map(Number);
      const report = {
        saved_report_id: saved.id,
        format,
        ...(language === 'de' && { language: 'de' as const }),
      };
      const body = {
        name,
        cron: `${minute} ${hour} ${days[rhythm]}`,
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        report,
        destination: destinationOf(to),
      };
      return await call(createExtractionSchedule({ body }));
    },
    () => {
      notifications.show({ message: t('schedule.done', { name }) });
      onClose();
    },
  );
  return (
    <Dialog title={t('schedule.title')} onClose={onClose}>
      <form onSubmit={form.submit}>
        <Stack gap="sm">
          <TextInput
            data-autofocus
            required
            label={t('save.name')}
            maxLength={200}
            value={name}
            error={form.errorOf('name')}
            onChange={(event) => setName(event.target.value)}
          />
          <Group grow align="flex-start">
            <Select
              label={t('schedule.rhythm')}
              allowDeselect={false}
              value={rhythm}
              data={rhythms.map((value) => ({ value, label: t(`schedule.${value}`) }))}
              onChange={(value) => setRhythm(value as Rhythm)}
            />
            <TextInput
              required
              type="time"
              label={t('schedule.time')}
              value={time}
              error={form.errorOf('cron')}
              onChange={(event) => setTime(event.target.value)}
            />
          </Group>
          <Select
            label={t('schedule.format')}
            allowDeselect={false}
            value={format}
            data={formats.map((value) => ({ value, label: value.toUpperCase() }))}
            error={form.errorOf('report.format') ?? form.errorOf('report.saved_report_id')}
            onChange={(value) => setFormat(value as Format)}
          />
          <Select
            label={t('schedule.to')}
            allowDeselect={false}
            value={to}
            data={[
              { value: 'mail', label: t('schedule.mail', { email: me.email }) },
              ...channels
                .filter(({ status }) => status === 'active')
                .map(({ id, name: label }) => ({ value: id, label })),
              { value: 'sftp', label: t('schedule.sftp') },
            ]}
            error={form.errorOf('destination.recipients.0') ?? form.errorOf('destination.channel_id')}
            onChange={(value) => setTo(value!)}
          />
          {to === 'sftp' && <SftpFields value={server} onChange={setServer} errorOf={form.errorOf} />}
          <Text size="sm" c="dimmed">
            {t('schedule.rights')}
          </Text>
          {form.failure && <Text c="red">{form.failure}</Text>}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={form.isBusy}>
              {t('schedule.create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
