import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Identity of a process that runs beside this one: the boot of their machine and their PID namespace, its id there, and when it
 * started, in clock ticks since the boot. Null when there is no such process, and on systems without `/proc`.
 */
export function identityOf(pid: number): string | null {
  const [namespace, startedAt] = [pidNamespace(), startOf(pid)];
  return namespace && startedAt ? `${namespace} ${pid} ${startedAt}` : null;
}

/**
 * Whether the process with this identity has certainly ended. False also for a process that can't be seen from here: one of another
 * machine or container.
 */
export function hasEnded(identity: string): boolean {
  const [boot, namespace, pid, startedAt] = identity.split(' ');
  return `${boot} ${namespace}` === pidNamespace() && startOf(Number(pid)) !== startedAt;
}

/** Boot of the machine, and the PID namespace of this process, in which a process id has a meaning. */
function pidNamespace(): string | undefined {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

/** When a process started; undefined when there is none, or when it has ended and its parent hasn't noticed yet. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is a name in parentheses, which may contain spaces.
    const [state, ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : others[18];
  } catch {
    return undefined;
  }
}
