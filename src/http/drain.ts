import { Injectable, OnModuleDestroy } from '@nestjs/common';

/** Whether the process is about to stop. It reports so first, and stops taking work later. */
@Injectable()
export class Drain implements OnModuleDestroy {
  private begun = false;

  get isDraining(): boolean {
    return this.begun;
  }

  begin(): void {
    this.begun = true;
  }

  onModuleDestroy(): void {
    this.begin();
  }
}
