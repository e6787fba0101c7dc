/** Memory of a graph process, as its pulses report it. */
export class GraphProcessMemory {
  private residentMb = 0;
  /** MiB that it had taken when it had loaded the graphs. */
  private loadedMb: number | undefined;

  measured(residentMb: number): void {
    this.residentMb = residentMb;
    this.loadedMb ??= residentMb;
  }

  /** Whether it takes more than so many MiB because of its work. A process whose graphs take them would be replaced forever. */
  hasGrownAbove(limitMb: number): boolean {
    return this.residentMb > limitMb && this.loadedMb! <= limitMb;
  }
}
