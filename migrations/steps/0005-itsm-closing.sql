-- Runs store the sync state that follows them with the names of its columns.
update itsm_runs set closing = jsonb_build_object(
  'again', closing -> 'again',
  'absences', closing -> 'absences',
  'watermark', closing -> 'watermark',
  'links_watermark', closing -> 'linksWatermark',
  'local_position', closing -> 'localPosition',
  'complete_read_at', closing -> 'completeReadAt',
  'pulled_read_at', closing -> 'pulledReadAt',
  'pushed_read_at', closing -> 'pushedReadAt',
  'pulled_position', closing -> 'pulledPosition',
  'pushed_watermark', closing -> 'pushedWatermark')
where closing is not null;
