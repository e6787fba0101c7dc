/** Appearance of each status of a run, thread, export, delivery or cron. */
type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'idle';

const TONES: Record<string, Tone> = {
  success: 'good',
  completed: 'good',
  delivered: 'good',
  healthy: 'good',
  enabled: 'good',
  permitted: 'good',
  active: 'good',
  running: 'busy',
  busy: 'busy',
  exporting: 'busy',
  pending: 'idle',
  created: 'idle',
  idle: 'idle',
  interrupted: 'wait',
  paused: 'wait',
  retrying: 'wait',
  timedout: 'bad',
  timeout: 'bad',
  error: 'bad',
  failed: 'bad',
  dead: 'bad',
  missing: 'bad',
  unhealthy: 'bad',
  stalled: 'bad',
  stopped: 'bad',
  clienterror: 'bad',
  servererror: 'bad',
  connectionerror: 'bad',
  blockedaddress: 'bad',
};

const CLASSES: Record<Tone, string> = {
  good: 'bg-good-soft text-good',
  busy: 'bg-busy-soft text-busy',
  wait: 'bg-wait-soft text-wait',
  bad: 'bg-bad-soft text-bad',
  idle: 'bg-hover text-soft',
};

const toneOf = (status: string): Tone => TONES[status.toLowerCase().replace(/[^a-z]/g, '')] ?? 'idle';

export function Status({ status }: { status: string }) {
  const tone = toneOf(status);
  return (
    <span className={`inline-flex h-5 items-center gap-1.5 rounded-full px-2 text-2xs font-medium ${CLASSES[tone]}`}>
      <span className={`size-1.5 rounded-full bg-current ${tone === 'busy' ? 'animate-pulse-dot' : ''}`} />
      {status}
    </span>
  );
}
